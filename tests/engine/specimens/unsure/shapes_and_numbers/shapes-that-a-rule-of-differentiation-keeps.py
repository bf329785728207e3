# shapes that a rule of differentiation keeps
from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.custom_vjp, nondiff_argnames=("empty",))
def gather(x, index, inverse=None, empty=True):
    return x[index]

def forward(x, index, inverse, empty):
    return gather(x, index, inverse, empty=empty), (x.shape, index, inverse)

def backward(empty, kept, g):
    shape, index, inverse = kept
    if g.shape[0] == shape[0]:
        return g, None, None
    return jnp.zeros(shape).at[index].set(g), None, None

gather.defvjp(forward, backward)

@jax.jit
def run(x, index):
    return gather(jnp.repeat(x, 2), index, empty=False)
