# nested containers, keys that are no plain names, and a list that the module adds to
import jax.numpy as jnp
from flax import nnx


class Nested(nnx.Module):
    def __init__(self, rngs):
        self.grid = [[nnx.Linear(8, 8, rngs=rngs)], [nnx.Linear(8, 8, rngs=rngs)]]  # finding
        self.named = {"first": nnx.Linear(8, 8, rngs=rngs), "items": nnx.Linear(8, 8, rngs=rngs)}  # finding
        self.plain = {"first": nnx.Linear(8, 8, rngs=rngs), "second": nnx.Linear(8, 8, rngs=rngs)}  # finding
        self.tail = [nnx.Linear(8, 8, rngs=rngs)]  # finding

    def __call__(self, x):
        for layer in self.grid[0] + self.tail + [self.named["items"], self.plain["second"]]:
            x = layer(x)
        return x


print(Nested(nnx.Rngs(0))(jnp.ones((2, 8))).shape)
