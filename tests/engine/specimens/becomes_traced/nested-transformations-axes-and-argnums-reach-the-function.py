# nested transformations: axes and argnums reach the function
import jax
import jax.numpy as jnp

def loss(w, x):
    return (w * x).sum() if w.ndim == 1 else w

g = jax.jit(jax.vmap(jax.value_and_grad(loss), (None, 0)))
g(jnp.ones(3), jnp.ones((5, 3)))
