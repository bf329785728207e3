# source: jax-ml/jax#196
# blind: second

from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Config(NamedTuple):
    sizes: tuple = (8, 16, 1)
    activation: str = "tanh"
    residual: bool = False


ACTIVATIONS = MappingProxyType({"tanh": jnp.tanh, "relu": jax.nn.relu})


def init(key, config):
    keys = jax.random.split(key, len(config.sizes) - 1)
    shapes = zip(config.sizes[:-1], config.sizes[1:], strict=True)
    return [jax.random.normal(k, shape) for k, shape in zip(keys, shapes, strict=True)]


@partial(jax.jit, static_argnames=("config",))
def apply(weights, x, config):
    act = ACTIVATIONS[config.activation]
    for w in weights[:-1]:
        h = act(x @ w)
        x = x + h if config.residual else h
    return x @ weights[-1]


class Experiment:
    def __init__(self, **overrides):
        self.config = Config(**overrides)
        self.weights = init(jax.random.key(0), self.config)

    def predict(self, x):
        return apply(self.weights, x, config=self.config)


if __name__ == "__main__":
    print(Experiment(activation="relu").predict(jnp.ones((2, 8))))
