# blind: ninth

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass
class Executor:
    key: jax.Array

    def play(self, steps):
        total = 0.0
        for i in range(steps):
            total += jax.random.bernoulli(jax.random.fold_in(self.key, i), 0.3)
        return total


class Builder:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def executors(self, count):
        return [Executor(key) for key in jax.random.split(self.key, count)]  # finding-other


if __name__ == "__main__":
    print([executor.play(10) for executor in Builder(3).executors(4)])
