# noise inside of two networks, against one network twice

import jax
import jax.numpy as jnp
from flax import linen as nn


class Net(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x, train=True):
        x = nn.Dropout(0.1, deterministic=not train)(nn.relu(nn.Dense(self.width)(x)))
        return nn.Dense(1)(x)


actor, critic = Net(8), Net(16)


@jax.jit
def loss(actor_params, critic_params, x, key):
    action = actor.apply(actor_params, x, rngs={"dropout": key})
    return critic.apply(critic_params, action, rngs={"dropout": key}).mean()


@jax.jit
def consistency(params, x, key):
    first = actor.apply(params, x, rngs={"dropout": key})
    second = actor.apply(params, x + 1.0, rngs={"dropout": key})  # finding
    return jnp.mean((first - second) ** 2)

