# function: step
# arguments: params=dict, state=state, x=array, y=array

"""A flax model that is only applied."""

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class MLP(nn.Module):
    width: int = 16

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(self.width)(x))
        return nn.Dense(1)(x)


model = MLP()
tx = optax.sgd(0.1)


def loss(params, x, y):
    return jnp.mean((model.apply(params, x) - y) ** 2)


def step(params, state, x, y):
    grads = jax.grad(loss)(params, x, y)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(params, updates), state


def main():
    x = jax.random.normal(jax.random.key(0), (32, 4))
    y = x[:, :1]
    params = model.init(jax.random.key(1), x)
    state = tx.init(params)
    for _ in range(50):
        params, state = step(params, state, x, y)
    print("loss", loss(params, x, y))


if __name__ == "__main__":
    main()
