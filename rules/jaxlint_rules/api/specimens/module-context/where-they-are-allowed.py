# layers in setup and in compact methods and their helpers, states under transform_with_state
import haiku as hk
import jax
import jax.numpy as jnp
from flax import linen as nn


class Set(nn.Module):
    def setup(self):
        self.layers = [nn.Dense(8) for _ in range(3)]
        self.act = nn.Dense(4)

    def __call__(self, x):
        for layer in self.layers:
            x = nn.relu(layer(x))
        return self.act(x)


class Compact(nn.Module):
    def head(self, x):
        return nn.Dense(4)(x)

    @nn.compact
    def __call__(self, x):
        return self.head(nn.Dense(8)(x))


class Heir(Compact):
    def setup(self):
        self.scale = 2.0

    def head(self, x):
        return nn.Dense(self.scale)(x)


def make(x):
    return Set().apply({}, Compact().apply({}, jnp.asarray(x)))


def forward(x, train):
    return hk.BatchNorm(True, True, 0.9)(hk.Linear(8)(x), train)


def plain(x, norm=False):
    if norm:
        x = hk.BatchNorm(True, True, 0.9)(x, True)
    return hk.Linear(8)(x)


net = hk.transform_with_state(forward)
other = hk.transform(plain)
params, state = net.init(jax.random.key(0), jnp.ones((2, 3)), True)
more = other.init(jax.random.key(0), jnp.ones((2, 3)))


class Made(nn.Module):
    sizes: tuple[int, ...] = (3, 4)

    def layer(self, size):
        return nn.Dense(size)

    def build(self):
        self.norm = nn.LayerNorm()
        return [self.layer(size) for size in self.sizes]

    def setup(self):
        self.layers = self.build()

    def head(self):
        return nn.Dense(1)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)


Made().init(jax.random.key(0), jnp.ones((2, 3)))
