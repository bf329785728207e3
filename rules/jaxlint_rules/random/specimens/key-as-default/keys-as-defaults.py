# a key that is made where a function is defined; a second one in the file is mended with it

import jax


def sample(n, key=jax.random.key(0)):  # finding
    return jax.random.normal(key, (n,))


def mask(n, key=jax.random.key(1)):
    return jax.random.bernoulli(key, 0.5, (n,))
