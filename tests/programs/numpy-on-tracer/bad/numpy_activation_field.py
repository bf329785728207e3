# source: jax-ml/jax#3160

from typing import Callable

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class DenseStack(nn.Module):
    widths: tuple
    activation: Callable = np.arctan

    @nn.compact
    def __call__(self, x):
        for width in self.widths[:-1]:
            x = self.activation(nn.Dense(width)(x))  # finding
        return nn.Dense(self.widths[-1])(x)


def make_train(model):
    @jax.jit
    def loss(params, x, y):
        return jnp.mean((model.apply(params, x) - y) ** 2)

    return loss


def main():
    model = DenseStack((16, 16, 1))
    x = jnp.ones((4, 2))
    params = model.init(jax.random.PRNGKey(0), x)
    print(make_train(model)(params, x, jnp.zeros((4, 1))))


if __name__ == "__main__":
    main()
