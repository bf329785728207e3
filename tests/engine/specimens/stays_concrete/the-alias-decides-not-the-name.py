# the alias decides, not the name
import jax
import jax.numpy as np
import numpy as onp

@jax.jit
def f(x):
    y = np.exp(x) * onp.pi
    return np.where(y > 0, y, np.zeros_like(y)) + onp.log(2.0)

f(np.ones(3))
