# a few rows, whose number a call gives, and many where another call does

import jax
import jax.numpy as jnp


def draw(key):
    return jax.random.normal(key, (8,)).sum()


def ensemble(key, members):
    keys = jax.random.split(key, members)
    return jnp.stack([draw(one) for one in keys])


def trials(key, repeats):
    keys = jax.random.split(key, repeats)
    return jnp.stack([draw(one) for one in keys])  # finding


class Views:
    def __init__(self, count):
        self.angles = jnp.linspace(0.0, 1.0, count)

    def lengths(self, x):
        return sum(length(x, angle) for angle in self.angles)


def length(x, angle):
    return jnp.linalg.norm(x * angle)


print(ensemble(jax.random.key(0), 3), Views(2).lengths(jnp.ones(3)))
print(trials(jax.random.key(1), 2), trials(jax.random.key(1), 200))
