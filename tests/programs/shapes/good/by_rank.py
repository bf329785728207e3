import jax.numpy as jnp


def apply(w, x):
    if x.ndim == 1:
        return w @ x
    if x.shape[-1] != w.shape[-1]:
        x = x.T
    return x @ w.T


w = jnp.ones((3, 5))
print(apply(w, jnp.ones(5)), apply(w, jnp.ones((2, 5))), apply(w, jnp.ones((5, 2))))
