# a static argument of a rematerialised module that is passed by keyword, or left out

from functools import partial
import flax.linen as nn
import jax
import jax.numpy as jnp

class Block(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        x = nn.Dense(4)(x)
        return x * 2 if train else x

class Own(nn.Module):
    @partial(nn.remat, static_argnums=(2,))
    @nn.compact
    def __call__(self, x, train=False):
        x = nn.Dense(4)(x)
        return x * 2 if train else x

class Net(nn.Module):
    remat: bool = True

    @nn.compact
    def __call__(self, x, train):
        Rematerialised = nn.remat(Block, static_argnums=(2,))
        x = Rematerialised()(x, train=train)  # finding
        x = Rematerialised()(x)  # finding
        x = Own()(x, train=train)  # finding
        x = Rematerialised()(x, train)
        x = nn.remat(Block, static_argnums=2, policy=None)()(x, False)
        return Own()(Block()(x, train=train), train)

Net().init(jax.random.key(0), jnp.ones((2, 4)), True)
