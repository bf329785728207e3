# numpy under another name
import jax
import jax.numpy as np
import numpy as onp

@jax.jit
def f(x):
    y = np.exp(x)
    return onp.asarray(y)  # finding: tracer-to-numpy

f(np.ones(3))
