# blind: every clause

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
from typing import Any, Optional


class Drop(hk.Module):
    def __init__(self, rate, name=None):
        super().__init__(name=name)
        self.rate = rate

    def __call__(self, x, is_training):
        if is_training and self.rate > 0:
            x = hk.dropout(hk.next_rng_key(), self.rate, x)
        if hk.running_init():
            x = x + 0
        return hk.Linear(2)(x)


class L(nn.Module):
    feats: tuple
    norm: Optional[Any] = None
    bias: bool = True

    def setup(self):
        self.layers = [nn.Dense(f, use_bias=self.bias) for f in self.feats]

    def __call__(self, x, train: bool = False):
        for i, l in enumerate(self.layers):
            x = l(x)
            if i != len(self.layers) - 1 and self.norm is not None:
                x = nn.relu(x)
        if self.is_initializing() or train:
            x = x * 1
        if self.has_variable("params", "scale"):
            x = x * 2
        return x


class E(eqx.Module):
    lin: eqx.nn.Linear
    skip: Optional[eqx.nn.Linear]
    inference: bool

    def __call__(self, x, *, key=None, state=None):
        y = self.lin(x)
        if self.skip:
            y = y + self.skip(x)
        if not self.inference and key is None:
            y = y * 2
        return y


f = hk.transform(lambda x, t: Drop(0.1)(x, t))
x = jnp.ones((1, 2))
p = f.init(jax.random.key(0), x, True)
print(jax.jit(f.apply, static_argnums=3)(p, jax.random.key(0), x, False))
m = L((2, 3))
v = m.init(jax.random.key(0), x)
print(jax.jit(m.apply, static_argnames="train")(v, x, train=True))
print(eqx.filter_jit(jax.vmap(E(eqx.nn.Linear(2, 2, key=jax.random.key(0)), None, False)))(x))
