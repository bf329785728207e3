# in_axes=None under an outer jit is whatever it was
import jax
import jax.numpy as jnp

def loss(x, delta):
    if delta > 0:  # finding: tracer-branch
        x = x + delta
    return x

@jax.jit
def outer(xs, delta):
    return jax.vmap(loss, in_axes=(0, None))(xs, delta)

outer(jnp.ones(3), 0.5)
