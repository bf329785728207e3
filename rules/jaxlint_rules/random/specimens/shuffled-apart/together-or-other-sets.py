# one order for both, and sets that do not belong together

import jax


def together(key, x, y):
    order = jax.random.permutation(key, x.shape[0])
    return x[order], y[order]


def alike(key, x, y):
    return jax.random.permutation(key, x), jax.random.permutation(key, y)


def sets(k1, k2, x_train, y_test, real, fake):
    one = jax.random.permutation(k1, x_train), jax.random.permutation(k2, y_test)
    two = jax.random.permutation(k1, real), jax.random.permutation(k2, fake)
    return one, two
