# keys that are made where a function is defined

import jax
from jax.random import PRNGKey


def sample(n, key=jax.random.key(0)):  # finding
    return jax.random.normal(key, (n,))


class Model:
    def init(self, x, *, rng=PRNGKey(42)):  # finding
        return x + jax.random.normal(rng, x.shape)
