# source: patrick-kidger/equinox#31
# blind: first

import equinox as eqx
import jax
import jax.numpy as jnp


class RunningNorm(eqx.Module):
    mean: jax.Array
    count: jax.Array

    def __init__(self, dim):
        self.mean = jnp.zeros(dim)
        self.count = jnp.zeros(())

    def observe(self, x):
        self.count = self.count + 1  # finding
        self.mean = self.mean + (x - self.mean) / self.count  # finding-also
        return x - self.mean


def main():
    norm = RunningNorm(3)
    for i in range(3):
        print(norm.observe(jnp.ones(3) * i))


if __name__ == "__main__":
    main()
