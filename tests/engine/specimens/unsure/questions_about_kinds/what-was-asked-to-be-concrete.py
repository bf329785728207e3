# what was asked to be concrete
import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import concrete_or_error

def offsets(x):
    concrete_or_error(None, x, "x has to be known")
    return np.nonzero(x)

@jax.jit
def shifted(x, y):
    count = concrete_or_error(int, y, "y has to be known")
    return offsets(x), jnp.zeros(count)
