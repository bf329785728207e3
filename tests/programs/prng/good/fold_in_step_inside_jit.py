# source: google/flax#2593

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dropout(0.5, deterministic=not train)(nn.relu(nn.Dense(8)(x)))
        return nn.Dense(1)(x)[..., 0]


@jax.jit  # finding-other
def train_step(state, x, y, dropout_key):
    key = jax.random.fold_in(dropout_key, state.step)

    def loss_fn(params):
        pred = state.apply_fn(params, x, train=True, rngs={"dropout": key})
        return jnp.mean((pred - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def main(n):
    init_key, dropout_key = jax.random.split(jax.random.key(0))
    net = Net()
    params = net.init(init_key, jnp.ones((1, 3)), train=False)
    state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))
    for _ in range(n):
        state, loss = train_step(state, jnp.ones((4, 3)), jnp.ones(4), dropout_key)
    return loss


if __name__ == "__main__":
    print(main(4))
