# blind: every clause

import flax.linen as nn
import jax
import jax.numpy as jnp


class Cell(nn.Module):
    features: int

    @nn.compact
    def __call__(self, carry, x):
        h = nn.tanh(nn.Dense(self.features)(jnp.concatenate([carry, x], -1)))
        if float(h.mean()) > 0.5:  # finding
            h = h * 0.5
        return h, h


class RNN(nn.Module):
    @nn.compact
    def __call__(self, xs):
        scan = nn.scan(Cell, variable_broadcast="params", split_rngs={"params": False})
        return scan(4)(jnp.zeros(4), xs)


print(RNN().init(jax.random.key(0), jnp.ones((3, 2))))
