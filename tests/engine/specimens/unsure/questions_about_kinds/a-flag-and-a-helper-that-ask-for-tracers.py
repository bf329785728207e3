# a flag and a helper that ask for tracers
import jax
import jax.numpy as jnp
import numpy as np
from elsewhere import context
from jax._src.core import is_concrete

def is_traced(x):
    return isinstance(x, jax.core.Tracer)

@jax.jit
def checked(state):
    x = context.replace(state).flat
    known = not is_traced(x)
    if known and not bool(jnp.all(jnp.isfinite(x))):
        raise ValueError("not finite")
    if not is_traced(x):
        print(float(jnp.max(jnp.abs(x))))
    if is_traced(x):
        return x
    return int(jnp.sum(x))

@jax.jit
def kept(edges, table):
    cacheable = is_concrete(edges) and is_concrete(table)
    if cacheable:
        return tuple(np.ravel(edges))
    return edges

checked(1.0)
kept(jnp.ones(3), jnp.ones(3))
