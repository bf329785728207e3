# keys of variables

import jax

def init(key, n):
    key, subkey = jax.random.split(key)
    w = jax.random.normal(subkey, (n,))
    key, subkey = jax.random.split(key)
    b = jax.random.uniform(subkey, (n,))  # finding
    return w, b, jax.random.split(key)

def noise(x, key, steps):
    for _ in range(steps):
        key, subkey = jax.random.split(key)
        x = x + jax.random.normal(subkey, x.shape)  # finding
    return x
