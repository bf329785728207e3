# a layer of equinox that keeps its key

import equinox as eqx
import jax

class Block(eqx.Module):
    linear: eqx.nn.Linear
    drop: eqx.nn.Dropout
    key: jax.Array

    def __init__(self, key):
        key, self.key = jax.random.split(key)
        self.linear = eqx.nn.Linear(4, 4, key=key)
        self.drop = eqx.nn.Dropout(0.5)

    def __call__(self, x):
        return self.drop(self.linear(x), key=self.key)  # finding

class Drawn(eqx.Module):
    linear: eqx.nn.Linear

    def __init__(self, key):
        self.linear = eqx.nn.Linear(4, 4, key=key)

    def __call__(self, x, key):
        return self.linear(x) + jax.random.normal(key, (4,))
