# what follows a return for tracers
import jax
import jax.numpy as jnp

def check(x):
    if isinstance(x, jax.core.Tracer):
        return
    if not bool(jnp.all(jnp.diff(x) > 0)):
        raise ValueError

@jax.jit
def interpolate(x):
    check(x)
    return x
