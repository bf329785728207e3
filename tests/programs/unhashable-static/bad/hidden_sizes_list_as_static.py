# source: jax-ml/jax#4661
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import yaml

CONFIG = """
hidden: [32, 32]
activation: tanh
lr: 0.01
"""


def init_mlp(key, d_in, hidden, d_out):
    sizes = (d_in, *hidden, d_out)
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (a, b)) / a**0.5, jnp.zeros(b))
        for k, a, b in zip(keys, sizes[:-1], sizes[1:])
    ]


@functools.partial(jax.jit, static_argnames=("hidden", "activation"))  # finding-also
def forward(params, x, hidden, activation="tanh"):
    act = getattr(jnp, activation)
    for (w, b), width in zip(params[:-1], hidden):
        x = act(x @ w + b) / width**0.5
    w, b = params[-1]
    return x @ w + b


class Surrogate:
    def __init__(self, config, d_in):
        self.config = config
        self.params = init_mlp(jax.random.key(0), d_in, config["hidden"], 1)

    def __call__(self, x):
        return forward(self.params, x, hidden=self.config["hidden"], activation=self.config["activation"])  # finding


if __name__ == "__main__":
    model = Surrogate(yaml.safe_load(CONFIG), 3)
    print(model(jnp.ones((4, 3))))
