# values that change their kind in a branch
import jax
import jax.numpy as jnp

@jax.jit
def f(x, scale=None, axis=-1, names=("a", "b"), fn=jnp.tanh):
    if scale is None:
        scale = x.shape[-1] ** -0.5
        if scale > 0.1:
            x = x * scale
    if axis < 0:
        axis = x.ndim + axis
    if "a" in names and fn is not jnp.sin:
        x = fn(x)
    size = x.shape[axis] if axis else 1
    return x * size if size > 2 else x

f(jnp.ones((2, 3)))
