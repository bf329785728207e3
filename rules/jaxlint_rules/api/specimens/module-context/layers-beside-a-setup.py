# a linen module with a setup that creates a layer in its call, and in a method
import jax.numpy as jnp
from flax import linen as nn


class Decoder(nn.Module):
    def setup(self):
        self.hidden = nn.Dense(8)

    def head(self, x):
        return nn.Dense(4)(x)  # finding

    def __call__(self, x):
        x = nn.LayerNorm()(self.hidden(x))  # finding
        return self.head(x)


def run(params, x):
    return Decoder().apply(params, jnp.asarray(x))
