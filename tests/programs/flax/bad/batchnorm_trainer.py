# blind: twenty-first

from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(32)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        return nn.Dense(2)(nn.relu(x))


class TrainState(train_state.TrainState):
    batch_stats: Any


def create_state(key, sample):
    model = Net()
    variables = model.init(key, sample, train=False)
    return TrainState.create(apply_fn=model.apply, params=variables["params"],
                             batch_stats=variables["batch_stats"], tx=optax.adam(1e-2))


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        logits, updates = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats}, x,
            train=True, mutable=["batch_stats"])
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()
        return loss, updates

    (loss, updates), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)  # finding-also
    state = state.apply_gradients(grads=grads)  # finding
    return state, loss


@jax.jit
def accuracy(state, x, y):
    variables = {"params": state.params, "batch_stats": state.batch_stats}
    return (state.apply_fn(variables, x, train=False).argmax(-1) == y).mean()


def main():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(20.0, 15.0, size=(512, 6)), jnp.float32)
    y = jnp.asarray(x[:, 0] > x[:, 1], jnp.int32)
    state = create_state(jax.random.key(0), x[:1])
    for _ in range(15):
        for i in range(0, 512, 64):
            state, loss = train_step(state, x[i:i + 64], y[i:i + 64])
    print("train loss", float(loss), "eval accuracy", float(accuracy(state, x, y)))


if __name__ == "__main__":
    main()
