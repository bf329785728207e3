# keys of variables

import jax

def init(key, n):
    w = jax.random.normal(key, (n,))
    b = jax.random.uniform(key, (n,))  # finding
    return w, b, jax.random.split(key)

def noise(x, key, steps):
    for _ in range(steps):
        x = x + jax.random.normal(key, x.shape)  # finding
    return x
