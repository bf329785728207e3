# host functions that compute with JAX, and that compute with NumPy

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

def eigenvalues(matrix):
    return jnp.linalg.eigvalsh(matrix)

@jax.jit
def smooth(x):
    return 0.5 * (x + jnp.roll(x, 1))

def smoothed(x):
    return np.asarray(smooth(x))

def logarithm(matrix):
    return scipy.linalg.logm(np.asarray(matrix)).astype(jnp.float32)

def converted(x):
    return jnp.asarray(np.sort(x), dtype=jnp.promote_types(x.dtype, jnp.float32))

@jax.jit
def step(a, x):
    values = jax.pure_callback(eigenvalues, jax.ShapeDtypeStruct(x.shape, x.dtype), a)  # finding
    x = jax.pure_callback(smoothed, jax.ShapeDtypeStruct(x.shape, x.dtype), x)  # finding
    x = x + jax.pure_callback(converted, jax.ShapeDtypeStruct(x.shape, x.dtype), values)
    return jax.pure_callback(logarithm, jax.ShapeDtypeStruct(a.shape, a.dtype), a) @ x
