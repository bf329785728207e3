# source: jax-ml/jax#196
# blind: second

from functools import partial

import jax
import jax.numpy as jnp


def load_config(**overrides):
    config = {"sizes": (8, 16, 1), "activation": "tanh", "residual": False}
    config.update(overrides)
    return config


ACTIVATIONS = {"tanh": jnp.tanh, "relu": jax.nn.relu}


def init(key, config):
    sizes = config["sizes"]
    keys = jax.random.split(key, len(sizes) - 1)
    return [jax.random.normal(k, nm) for k, nm in zip(keys, zip(sizes[:-1], sizes[1:], strict=True), strict=True)]


@partial(jax.jit, static_argnames=("config",))
def apply(weights, x, config):
    act = ACTIVATIONS[config["activation"]]
    for w in weights[:-1]:
        h = act(x @ w)
        x = x + h if config["residual"] else h
    return x @ weights[-1]


class Experiment:
    def __init__(self, **overrides):
        self.config = load_config(**overrides)
        self.weights = init(jax.random.key(0), self.config)

    def predict(self, x):
        return apply(self.weights, x, config=self.config)  # finding


if __name__ == "__main__":
    print(Experiment(activation="relu").predict(jnp.ones((2, 8))))
