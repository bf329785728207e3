# source: google/flax#2536
# blind: twentieth

"""Tabular network with batch normalisation, flax linen."""
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class TrainState(train_state.TrainState):
    batch_stats: Any


class Net(nn.Module):
    hidden: int = 64

    @nn.compact
    def __call__(self, x, train):
        for _ in range(2):
            x = nn.Dense(self.hidden)(x)
            x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
            x = nn.relu(x)
        return nn.Dense(2)(x)


def create_state(key, example):
    model = Net()
    variables = model.init(key, example, train=False)
    return TrainState.create(
        apply_fn=model.apply,
        params=variables["params"],
        batch_stats=variables["batch_stats"],
        tx=optax.adam(3e-3),
    )


def forward(state, params, x, train):
    variables = {"params": params, "batch_stats": state.batch_stats}
    if not train:
        return state.apply_fn(variables, x, train=False)
    logits, _ = state.apply_fn(variables, x, train=True, mutable=["batch_stats"])  # finding
    return logits  # finding-also


@partial(jax.jit, donate_argnums=0)
def train_step(state, x, y):
    def loss_fn(params):
        logits = forward(state, params, x, train=True)  # finding-also
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss  # finding-also


@jax.jit
def accuracy(state, x, y):
    logits = forward(state, state.params, x, train=False)
    return jnp.mean(jnp.argmax(logits, axis=-1) == y)


def make_table(rng, rows):
    x = rng.standard_normal((rows, 6)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
    return 40.0 + 15.0 * x, y


def main(steps=200, batch=128):
    rng = np.random.default_rng(0)
    x, y = make_table(rng, 2000)
    test_x, test_y = make_table(rng, 500)
    state = create_state(jax.random.key(0), jnp.asarray(x[:1]))
    for _ in range(steps):
        rows = rng.choice(len(x), batch, replace=False)
        state, loss = train_step(state, x[rows], y[rows])
    print("train loss", float(loss))
    print("test accuracy", float(accuracy(state, test_x, test_y)))


if __name__ == "__main__":
    main()
