# layers that are returned, or given to functions of arrays
import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp


class Head(nn.Module):
    actions: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(64)(x))
        x = nn.Dense(self.actions)  # finding
        return x


class Direct(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(4)  # finding


class Nested(nn.Module):
    @nn.compact
    def __call__(self, x):
        return Head(4)  # finding


class Haiku(hk.Module):
    def __call__(self, x):
        out = hk.Linear(4)  # finding
        return out


class Activated(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(64))  # finding
        return nn.Dense(4)(x)


def squashed(key):
    layer = eqx.nn.Linear(4, 4, key=key)
    return jnp.tanh(layer)  # finding
