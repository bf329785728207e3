# a default for what a program begins with is reported as advice

import jax


def initialize(shape, key=jax.random.PRNGKey(0)):  # finding
    return jax.random.normal(key, shape)
