# objects of SciPy, and its solvers

import jax
import jax.numpy as jnp
import numpy as np
from scipy import interpolate, optimize

table = interpolate.interp1d(np.arange(4), np.arange(4) ** 2)
spline = interpolate.CubicSpline(np.arange(4), np.arange(4) ** 2)

@jax.jit
def f(x):
    x = jnp.square(x)
    best = optimize.minimize(lambda y: (y - 1.0) ** 2, x)  # finding
    return best.x, table(x), spline.integrate(0.0, x), spline(x.shape[0])  # finding

@jax.jit
def scaled(x):
    return x * table(2.5) * float(spline(0.5)) * optimize.brentq(np.cos, 0.0, 3.0)

def host(x):
    return table(np.asarray(x)), optimize.minimize(lambda y: (y - 1.0) ** 2, np.zeros(2))
