# source: patrick-kidger/equinox#673
# blind: second

from dataclasses import dataclass, field

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
    calls: int = field(default=0)

    def forward(self, x):
        h = self.scaler(x)
        for w, b in self.weights[:-1]:
            h = jax.nn.relu(h @ w + b)
        w, b = self.weights[-1]
        return h @ w + b

    @property
    def compiled(self):
        return jax.jit(self.forward)  # finding

    def predict(self, x):
        self.calls += 1
        return self.compiled(x)  # finding-also


def build(key, sizes=(8, 32, 32, 3)):
    keys = jax.random.split(key, len(sizes) - 1)
    weights = [
        (jax.random.normal(k, (n, m)) / n**0.5, jnp.zeros(m))
        for k, n, m in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]
    return Predictor(weights, Scaler(jnp.zeros(sizes[0]), jnp.ones(sizes[0])))


def serve(predictor, requests):
    answers = []
    for request in requests:
        answers.append(predictor.predict(request))
    return answers


if __name__ == "__main__":
    key = jax.random.key(0)
    model_key, data_key = jax.random.split(key)
    queue = list(jax.random.normal(data_key, (20, 4, 8)))
    print(len(serve(build(model_key), queue)))
