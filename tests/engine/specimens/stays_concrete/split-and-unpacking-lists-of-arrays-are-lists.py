# split and unpacking: lists of arrays are lists
import jax
import jax.numpy as jnp

@jax.jit
def f(x):
    parts = jnp.split(x, 2)
    parts[0] = parts[0] + 1
    if len(parts) > 1 and parts:
        x = parts[0]
    a, b = jnp.meshgrid(x, x)
    u, s, vt = jnp.linalg.svd(a)
    rows = jnp.unstack(b)
    rows = [row for row in rows if row is not None]
    return s.sum() + rows[0]

f(jnp.ones(4))
