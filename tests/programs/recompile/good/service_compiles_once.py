# source: patrick-kidger/equinox#673
# blind: second

from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp


@dataclass
class Scaler:
    mean: jax.Array
    std: jax.Array

    def __call__(self, x):
        return (x - self.mean) / self.std


@dataclass
class Predictor:
    weights: list
    scaler: Scaler

    def forward(self, weights, x):
        h = self.scaler(x)
        for w, b in weights[:-1]:
            h = jax.nn.relu(h @ w + b)
        w, b = weights[-1]
        return h @ w + b

    @cached_property
    def compiled(self):
        return jax.jit(self.forward)

    def predict(self, x):
        return self.compiled(self.weights, x)


def build(key, sizes=(8, 32, 32, 3)):
    keys = jax.random.split(key, len(sizes) - 1)
    weights = [
        (jax.random.normal(k, (n, m)) / n**0.5, jnp.zeros(m))
        for k, n, m in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]
    return Predictor(weights, Scaler(jnp.zeros(sizes[0]), jnp.ones(sizes[0])))


if __name__ == "__main__":
    model_key, data_key = jax.random.split(jax.random.key(0))
    predictor = build(model_key)
    answers = [predictor.predict(request) for request in jax.random.normal(data_key, (20, 4, 8))]
    print(len(answers))
