# modules whose call writes a variable, or that of a module inside; one that only reads, and one that is passed

import jax
import jax.numpy as jnp
from flax import nnx


class Count(nnx.Variable):
    pass


class RunningMean(nnx.Module):
    def __init__(self, dim):
        self.count = Count(jnp.zeros(()))
        self.mean = Count(jnp.zeros(dim))

    def __call__(self, x):
        self.count.value = self.count.value + 1.0
        return x - self.mean.value / self.count.value


class Shift(nnx.Module):
    def __init__(self, dim):
        self.by = nnx.Param(jnp.zeros(dim))

    def reset(self):
        self.by.value = jnp.zeros_like(self.by.value)

    def __call__(self, x):
        return x - self.by.value


class Encoder(nnx.Module):
    def __init__(self, dim, rngs):
        self.center = RunningMean(dim)
        self.proj = nnx.Linear(dim, 2, rngs=rngs)

    def __call__(self, x):
        return self.proj(self.center(x))


def main():
    encoder, shift = Encoder(4, nnx.Rngs(0)), Shift(4)

    @jax.jit
    def embed(x):
        return encoder(x)  # finding

    @jax.jit
    def move(x):
        return shift(x)

    @nnx.jit
    def passed(encoder, x):
        return encoder(x)

    x = jnp.ones((5, 4))
    print(move(x), passed(encoder, x), embed(x))


main()
