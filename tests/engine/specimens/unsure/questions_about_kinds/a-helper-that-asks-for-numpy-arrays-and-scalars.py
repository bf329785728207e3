# a helper that asks for NumPy arrays and scalars
import jax
import numpy as np

def is_host(given):
    return isinstance(given, np.ndarray) or np.isscalar(given)

@jax.jit
def zeros(x):
    if is_host(x) and x.size == 1:
        return np.all(np.equal(x, 0))
    return False

zeros(1.0)
