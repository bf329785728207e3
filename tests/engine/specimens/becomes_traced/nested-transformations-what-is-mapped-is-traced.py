# nested transformations: what is mapped is traced
import jax
import jax.numpy as jnp

def loss(w, x):
    if x.sum() > 0:  # finding: tracer-branch
        return (w * x).sum()
    return w.sum()

g = jax.vmap(jax.value_and_grad(loss), (None, 0))
g(jnp.ones(3), jnp.ones((5, 3)))
