# differentiation under jit does not
import jax
import jax.numpy as jnp

def loss(w):
    if w.sum() > 0:  # finding: tracer-branch
        return w.sum()
    return -w.sum()

step = jax.jit(jax.grad(loss))
step(jnp.ones(3))
