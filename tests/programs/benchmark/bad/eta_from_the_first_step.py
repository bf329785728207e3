# source: Drenderer/klax#83
# blind: ninth

import time
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp


def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w) - y) ** 2)


@dataclass
class Fitter:
    lr: float = 1e-2
    eta: float = field(default=0.0, init=False)

    def __post_init__(self):
        self.update = jax.jit(self._update)

    def _update(self, w, x, y):
        return w - self.lr * jax.grad(loss)(w, x, y)

    def estimate(self, w, x, y, steps):
        begin = time.perf_counter()
        w = jax.block_until_ready(self.update(w, x, y))  # finding-also
        self.eta = (time.perf_counter() - begin) * steps  # finding
        return w


if __name__ == "__main__":
    fitter = Fitter()
    fitter.estimate(jnp.ones((16, 4)), jnp.ones((32, 16)), jnp.zeros((32, 4)), 500)
    print(fitter.eta)
