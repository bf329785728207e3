# arrays and indices that are made by brackets
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def loop(x, ts):
    return x + ts

def main(x):
    first = loop(x, jnp.r_[:3])
    second = loop(jnp.mgrid[:3, :4], np.r_[:3])
    return first, second, x[jnp.s_[:2]], x[np.index_exp[1:]]
