# source: google/flax#3997
# blind: fifteenth
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
        self.count.value = self.count.value + 1.0  # finding
        self.mean.value = self.mean.value + (x.mean(0) - self.mean.value) / self.count.value  # finding-also
        return x - self.mean.value


class Encoder(nnx.Module):
    def __init__(self, dim, rngs):
        self.center = RunningMean(dim)
        self.proj = nnx.Linear(dim, 2, rngs=rngs)

    def __call__(self, x):
        return self.proj(self.center(x))


def main():
    encoder = Encoder(4, nnx.Rngs(0))

    @jax.jit  # finding-also
    def embed(x):
        return encoder(x)  # finding-also

    for _ in range(3):
        out = embed(jnp.ones((5, 4)))
    print(out.shape, encoder.center.count.value + 1)


if __name__ == "__main__":
    main()
