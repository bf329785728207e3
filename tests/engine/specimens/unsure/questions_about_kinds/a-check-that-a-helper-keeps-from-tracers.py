# a check that a helper keeps from tracers
import jax
import jax.numpy as jnp

def is_traced(x):
    return isinstance(x, jax.core.Tracer)

def checked(x):
    concrete = not is_traced(x)
    if concrete and not bool(jnp.all(jnp.isfinite(x))):
        raise ValueError
    return jnp.sin(x)

@jax.jit
def run(x, settings):
    start = x if settings.warm else 1.0
    return checked(start)
