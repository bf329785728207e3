# source: liesel-devs/liesel#272
# blind: third

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Chain(NamedTuple):
    position: jax.Array
    key: jax.Array


class Engine:
    def __init__(self, logp, step_size=0.1):
        self.logp = logp
        self.step_size = step_size
        self._kernel = jax.jit(self._one, donate_argnames="chain")

    def _one(self, chain):
        key, sub = jax.random.split(chain.key)
        noise = jax.random.normal(sub, chain.position.shape)
        prop = chain.position + self.step_size * noise
        return Chain(prop, key), self.logp(prop)

    def warmup(self, chain, n):
        first, _ = self._kernel(chain=chain)
        moved = jnp.abs(first.position - chain.position).max()  # finding
        for _ in range(n - 1):
            first, _ = self._kernel(chain=first)
        return first, moved


if __name__ == "__main__":
    engine = Engine(lambda x: -jnp.sum(x**2))
    print(engine.warmup(Chain(jnp.zeros(3), jax.random.key(0)), 4))
