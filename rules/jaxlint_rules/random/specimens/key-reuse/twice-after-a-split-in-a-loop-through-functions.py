# twice, after a split, in a loop, through functions

import jax

def init(key, n):
    return jax.random.normal(key, (n,))

def noise(x, key):
    return x + jax.random.normal(key, x.shape)

def main(seed, batches):
    key = jax.random.key(seed)
    w = init(key, 3)
    b = jax.random.uniform(key, (3,))  # finding
    key, sub = jax.random.split(jax.random.key(1))
    for batch in batches:
        w = w + noise(batch, sub).sum()  # finding
    return w + b

def late(key):
    x = jax.random.normal(key)
    key, sub = jax.random.split(key)  # finding
    return x + jax.random.normal(sub)
