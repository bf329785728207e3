# an expensive branch under vmap

import jax
import jax.numpy as jnp

def expensive(a, b):
    return jnp.linalg.solve(a, b)

def cheap(a, b):
    return b / jnp.diag(a)

def solve(a, b):
    off = jnp.abs(a - jnp.diag(jnp.diag(a))).max()
    return jax.lax.cond(off > 1e-3, expensive, cheap, a, b)  # finding

solve_all = jax.jit(jax.vmap(solve))

@jax.vmap
def row(x, w):
    return jax.lax.switch(jnp.argmax(x), [lambda: x @ w, lambda: x @ w.T], )  # finding
