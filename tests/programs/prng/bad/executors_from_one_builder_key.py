# source: instadeepai/Mava#725
# blind: ninth

from dataclasses import dataclass, field

import jax
import jax.numpy as jnp


@dataclass
class Executor:
    key: jax.Array
    total: float = field(default=0.0)

    def play(self, steps):
        for _ in range(steps):
            self.key, sub = jax.random.split(self.key)
            self.total += float(jax.random.bernoulli(sub, 0.3))
        return self.total


class Builder:
    def __init__(self, seed):
        self.key = jax.random.key(seed)

    def executors(self, count):
        return [Executor(self.key) for _ in range(count)]  # finding


def main():
    return [executor.play(10) for executor in Builder(3).executors(4)]


if __name__ == "__main__":
    print(main())
