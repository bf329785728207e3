# a seed in a function that is compiled for one call, and for several

import random

import jax


def seed():
    return jax.random.key(random.randint(1, 1000))  # finding


def for_one_call(model, x):
    @jax.jit
    def init(x):
        return model.init(jax.random.key(random.randint(1, 1000)), x)

    return init(x)


def for_several(model, xs):
    @jax.jit
    def init(x):
        return model.init(jax.random.key(random.randint(1, 1000)), x)  # finding

    return [init(x) for x in xs]


def handed_on(model):
    @jax.jit
    def init(x):
        return model.init(jax.random.key(random.randint(1, 1000)), x)  # finding

    return init


@jax.jit
def noise(x):
    return x + jax.random.normal(seed(), x.shape)
