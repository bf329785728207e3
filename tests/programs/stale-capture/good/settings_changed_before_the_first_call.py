# blind: every clause

from functools import partial

import jax
import jax.numpy as jnp

_mode = "a"


def set_mode(m):
    global _mode
    _mode = m


@jax.jit
def f(x):
    return x * (2 if _mode == "a" else 3)


class Model:
    def __init__(self):
        self.beta = 1.0
        self.calls = 0

    def load(self, beta):
        self.beta = beta
        self.energy = jax.jit(self._energy)

    def _energy(self, x):
        return self.beta * jnp.sum(x ** 2)

    @partial(jax.jit, static_argnums=0)
    def plain(self, x):
        return x + 1

    def run(self, x):
        self.calls += 1
        return self.plain(x)


set_mode("b")
m = Model()
m.load(2.0)
print(f(1.0), m.energy(jnp.ones(2)), m.run(1.0))
