# source: google/flax#4539
# blind: eleventh
import jax
import jax.numpy as jnp
from flax import nnx


class Denoiser(nnx.Module):
    def __init__(self, width, rngs):
        self.inp = nnx.Linear(width, 128, rngs=rngs)
        self.drop = nnx.Dropout(0.3, rngs=rngs)
        self.out = nnx.Linear(128, width, rngs=rngs)

    def __call__(self, x):
        return self.out(self.drop(nnx.relu(self.inp(x))))


def mc_predict(model, x, samples):
    forward = jax.jit(lambda batch: model(batch))  # finding
    draws = []
    for _ in range(samples):
        draws.append(forward(x))
    draws = jnp.stack(draws)
    return draws.mean(0), draws.std(0)


if __name__ == "__main__":
    model = Denoiser(16, nnx.Rngs(0))
    mean, std = mc_predict(model, jnp.ones((4, 16)), 20)
    print(std.max())
