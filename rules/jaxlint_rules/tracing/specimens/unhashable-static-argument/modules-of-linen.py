# modules of flax.linen, whose fields enter their hash, and what setup adds, which does not

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Field(nn.Module):
    bands: np.ndarray

    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)(x[..., None] * self.bands)


class Tower(nn.Module):
    sizes: tuple
    name_of_loss: str = "mse"

    def setup(self):
        self.layers = [nn.Dense(size) for size in self.sizes]

    def __call__(self, x):
        for layer in self.layers:
            x = nn.relu(layer(x))
        return x


@partial(jax.jit, static_argnums=0)
def render(model, params, x):
    return model.apply(params, x)


def main():
    x = jnp.ones((5, 3))
    field = Field(2.0 ** np.arange(4))
    render(field, field.init(jax.random.key(0), x), x)  # finding
    tower = Tower([8, 8])
    render(tower, tower.init(jax.random.key(0), x), x)  # finding
    tower = Tower((8, 8))
    render(tower, tower.init(jax.random.key(0), x), x)


main()
