# source: google/flax#2593
# blind: eighteenth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.relu(nn.Dense(16)(x))
        x = nn.Dropout(0.2, deterministic=not train)(x)
        return nn.Dense(1)(x)[:, 0]


class TrainState(train_state.TrainState):
    dropout_key: jax.Array


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, x, y):
    key = jax.random.fold_in(state.dropout_key, state.step)

    def loss_fn(params):
        pred = state.apply_fn({"params": params}, x, True, rngs={"dropout": key})
        return jnp.mean((pred - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def main():
    k_params, k_dropout, k_data = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(k_data, (32, 3))
    net = Net()
    params = net.init(k_params, x, False)["params"]
    state = TrainState.create(
        apply_fn=net.apply, params=params, tx=optax.adam(1e-2), dropout_key=k_dropout
    )
    for _ in range(5):
        state, loss = train_step(state, x, x.sum(axis=1))
    print(loss)


if __name__ == "__main__":
    main()
