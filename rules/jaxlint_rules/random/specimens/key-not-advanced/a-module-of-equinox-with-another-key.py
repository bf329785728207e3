# a module of equinox in which another key stands, told by a function

from collections.abc import Callable

import equinox as eqx
import jax


def cube(key, count):
    following, key = jax.random.split(key)
    return following, jax.random.uniform(key, (count,))


def _key(integrator):
    return integrator.key


def _samples(integrator):
    return integrator.samples


class Integrator(eqx.Module):
    sampler: Callable = eqx.field(static=True)
    key: jax.Array
    samples: jax.Array

    def __init__(self, key, sampler=cube):
        self.sampler = sampler
        self.key, self.samples = sampler(key, 10)

    def renewed(self) -> "Integrator":
        following, samples = self.sampler(self.key, 10)
        updated = eqx.tree_at(_key, self, following)
        return eqx.tree_at(_samples, updated, samples)


print(Integrator(jax.random.key(0)).renewed().samples)
