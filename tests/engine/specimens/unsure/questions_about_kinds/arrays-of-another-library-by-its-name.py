# arrays of another library, by its name
import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import OptimizeResult
from elsewhere import library_of

def norms(x):
    library = library_of(x)
    if library == "jax":
        return jnp.linalg.norm(x, axis=1)
    rows = np.zeros(2)
    for i, row in enumerate(x):
        rows[i] = np.linalg.norm(row)
    return rows

def sines(x):
    if library_of(x) != "numpy":
        return jnp.sin(x)
    return np.sin(x)

@jax.jit
def run(x):
    return OptimizeResult(x=jnp.sin(x), fun=norms(x) + sines(x))["fun"]
