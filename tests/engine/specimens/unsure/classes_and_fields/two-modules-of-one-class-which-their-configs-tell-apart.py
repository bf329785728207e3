# two modules of one class, which their configs tell apart
import dataclasses
import jax.numpy as jnp
from flax import nnx

@dataclasses.dataclass(frozen=True)
class Config:
    features: bool = False

class Head(nnx.Module):
    def __init__(self, config, *, rngs):
        self.config = config
        self.layer = nnx.Linear(4, 4, rngs=rngs)

    def __call__(self, x):
        x = jnp.tanh(self.layer(x))
        if self.config.features:
            return x
        return x, jnp.abs(x)

class Model(nnx.Module):
    def __init__(self, *, rngs):
        self.points = Head(Config(), rngs=rngs)
        self.tracks = Head(Config(features=True), rngs=rngs)

    def __call__(self, x):
        points, confidence = self.points(x)
        return points, confidence, jnp.transpose(self.tracks(x))

print(Model(rngs=nnx.Rngs(0))(jnp.ones((3, 4))))
