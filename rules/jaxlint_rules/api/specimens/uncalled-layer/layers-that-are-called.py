# layers that are called, kept or handed on
import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp

import layers_of_others


class Called(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(64)(x))
        out = nn.Dense(4)
        x = out(x)
        return x


class Chosen(nn.Module):
    @nn.compact
    def __call__(self, x):
        layer = nn.Dense(4)
        if x.ndim > 1:
            layer = nn.Dense(8)
        return layer(x)


class Factory(nn.Module):
    def make(self):
        return nn.Dense(4)

    @nn.compact
    def __call__(self, x):
        return self.make()(x)


class Mapped(nn.Module):
    @nn.compact
    def __call__(self, x):
        layers = [nn.Dense(4), nn.relu, nn.Dense(2)]
        whole = nn.Sequential(layers)
        return whole(x)


class Base(eqx.Module):
    def __call__(self, x):
        return self.forward(x)


class Derived(Base):
    scale: float = 2.0

    def forward(self, x):
        return x * self.scale


class Alias(eqx.Module):
    def forward(self, x):
        return x

    __call__ = forward


class Other(layers_of_others.Layer):
    def forward(self, x):
        return x


class Plain:
    def forward(self, x):
        return x


layer = eqx.nn.Linear(4, 4, key=jax.random.key(0))
rows = jax.vmap(layer)(jnp.ones((3, 4)))
norms = jax.tree.map(jnp.sum, eqx.filter(layer, eqx.is_array))
Derived()(rows)
Alias()(rows)
Other()(rows)
