# a library that is asked for its name
import numpy as np
import jax

def spence(z):
    return np.abs(z)

def dilogarithm(z):
    if "jax" in np.__name__:
        function = jax.vmap(spence)
    else:
        from scipy.special import spence as function
    return function(z)
