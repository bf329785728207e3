# one result for each number

import jax
import jax.numpy as jnp

@jax.jit
def correlations(x):
    lags = []
    for lag in range(100):  # finding
        lags.append(jnp.mean(x * jnp.roll(x, lag)))
    return jnp.stack(lags)

@jax.jit
def few(x):
    parts, shorter, picked = [], [], []
    for k in range(4):
        parts.append(jnp.mean(x**k))
    for k in range(100):
        shorter.append(jnp.mean(x[k:]))
    for k in range(100):
        picked.append(jnp.sin(x[k]) if k else x[0])
    return jnp.stack(parts), jnp.array(shorter), jnp.stack(picked)
