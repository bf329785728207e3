# NumPy's own arrays, Python's float, 32 bits, questions

import jax
import jax.numpy as jnp
import numpy as np

def table(x, n):
    host = np.linspace(0.0, 1.0, n, dtype=np.float64).astype(np.float32)
    eps = jnp.finfo(jnp.float64).eps
    return jnp.asarray(host), jnp.zeros(n, dtype=float), jnp.arange(n, dtype=int), x.astype(jnp.float32), x.dtype == jnp.float64, eps

def like(x, denominator):
    if denominator.dtype == jnp.float32:
        x = x.astype(jnp.complex64)
    elif denominator.dtype == jnp.float64:
        x = x.astype(jnp.complex128)
    return x
