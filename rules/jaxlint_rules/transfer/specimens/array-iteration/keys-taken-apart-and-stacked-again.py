# keys that are taken apart and stacked again, in a loop of many steps, of few keys, and keys that are used one by one

import jax
import jax.numpy as jnp

draw = jax.vmap(lambda key: jax.random.normal(key, (3,)))


def many(seed, steps, batch_size):
    key, total = jax.random.key(seed), 0.0
    for _ in range(steps):
        key, *subkeys = jax.random.split(key, num=batch_size + 1)
        total = total + draw(jnp.stack(subkeys)).mean()  # finding
    return total


def sliced(seed, steps, batch_size):
    key, total = jax.random.key(seed), 0.0
    for _ in range(steps):
        keys = jax.random.split(key, num=batch_size + 1)
        key, total = keys[0], total + draw(keys[1:]).mean()
    return total


def few(seed, steps):
    key, total = jax.random.key(seed), 0.0
    for _ in range(steps):
        key, *subkeys = jax.random.split(key, 4)
        total = total + draw(jnp.stack(subkeys)).mean()
    return total


def one_by_one(seed, sizes):
    key, *subkeys = jax.random.split(jax.random.key(seed), len(sizes) + 1)
    return key, [jax.random.normal(one, (size,)) for one, size in zip(subkeys, sizes)]


@jax.jit
def traced(key):
    key, *subkeys = jax.random.split(key, 101)
    return draw(jnp.stack(subkeys)).mean()


many(0, 2000, 256)
sliced(0, 2000, 256)
few(0, 2000)
one_by_one(0, [3, 4])
traced(jax.random.key(1))
