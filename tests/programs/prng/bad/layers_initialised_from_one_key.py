# blind: tenth

import equinox as eqx
import jax
import jax.numpy as jnp


class Block(eqx.Module):
    up: eqx.nn.Linear
    gate: eqx.nn.Linear

    def __init__(self, width, key):
        self.up = eqx.nn.Linear(width, width, key=key)
        self.gate = eqx.nn.Linear(width, width, key=key)  # finding

    def __call__(self, x):
        return self.up(x) * jax.nn.sigmoid(self.gate(x))


block = Block(8, jax.random.key(0))
print(block(jnp.ones(8)))
