# types of arrays that a table holds
import jax
import numpy as np

KINDS = (jax.Array,)
try:
    from jax.stages import ArgInfo

    KINDS = (*KINDS, ArgInfo)
except ImportError:
    pass

@jax.jit
def unchanged(x):
    if isinstance(x, (*KINDS, np.ndarray)):
        return x
    return np.asarray(x)

unchanged(1.0)
