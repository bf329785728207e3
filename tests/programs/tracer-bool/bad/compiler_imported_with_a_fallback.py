# blind: every clause

try:
    from jax.experimental.fancy import jit as accelerate
except ImportError:
    from jax import jit as accelerate
try:
    import jax.numpy as np
    HAS_JAX = True
except ImportError:
    import numpy as np
    HAS_JAX = False


@accelerate
def sign(x):
    if x > 0:  # finding
        return np.ones_like(x)
    return -np.ones_like(x)


print(sign(np.array(2.0)))
