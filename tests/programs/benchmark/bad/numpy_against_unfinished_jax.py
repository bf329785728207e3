# source: jax-ml/jax#1219
# blind: fifth

import time

import jax
import jax.numpy as jnp
import numpy as np

n = 500
a_np = np.random.default_rng(0).normal(size=(n, n)).astype(np.float32)
a_jax = jnp.asarray(a_np)

cov_jax = jax.jit(lambda a: jnp.linalg.inv(a.T @ a + jnp.eye(n)))
cov_jax(a_jax).block_until_ready()

t0 = time.time()
for _ in range(10):
    np.linalg.inv(a_np.T @ a_np + np.eye(n, dtype=np.float32))
numpy_seconds = time.time() - t0

t0 = time.time()
for _ in range(10):
    cov_jax(a_jax)
jax_seconds = time.time() - t0  # finding

print(f"numpy {numpy_seconds:.4f} s, jax {jax_seconds:.6f} s")
