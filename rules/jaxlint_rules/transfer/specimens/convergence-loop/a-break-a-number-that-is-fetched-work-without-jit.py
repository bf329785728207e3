# a break, a number that is fetched, work without jit

import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return 0.5 * (x + 2.0 / x)

def fixed_point(x):
    for _ in range(1000):
        new = step(x)
        if jnp.max(jnp.abs(new - x)) < 1e-6:  # finding
            break
        x = new
    return x

def fetched(x, limit):
    count, error = 0, 1.0
    while float(error) > 1e-6 and count < limit:  # finding
        new = step(x)
        error = jnp.linalg.norm(new - x)
        x, count = new, count + 1
    return x

def power(matrix):
    v = jnp.ones(matrix.shape[0])
    change = jnp.array(1.0)
    while change > 1e-6:  # finding
        w = matrix @ v
        w = w / jnp.linalg.norm(w)
        change = jnp.linalg.norm(w - v)
        v = w
    return v
