# blind: sixteenth

"""Convolutional classifier with batch normalisation, flax.linen; statistics are kept in the state."""

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


class ConvNet(nn.Module):
    num_classes: int = 10

    @nn.compact
    def __call__(self, x, train: bool):
        for features in (8, 16):
            x = nn.Conv(features, (3, 3), strides=(2, 2), use_bias=False)(x)
            x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
            x = nn.relu(x)
        x = x.mean(axis=(1, 2))
        return nn.Dense(self.num_classes)(x)


def create_state(rng, learning_rate):
    model = ConvNet()
    variables = model.init(rng, jnp.ones((1, 16, 16, 3)), train=False)
    return TrainState.create(
        apply_fn=model.apply,
        params=variables["params"],
        batch_stats=variables["batch_stats"],
        tx=optax.sgd(learning_rate, momentum=0.9),
    )


@partial(jax.jit, donate_argnums=0)
def train_step(state, images, labels):
    def loss_fn(params):
        logits, updates = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats},
            images,
            train=True,
            mutable=["batch_stats"],
        )
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, (logits, updates)

    (loss, (logits, updates)), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads, batch_stats=updates["batch_stats"])
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    return state, {"loss": loss, "accuracy": accuracy}


@jax.jit
def eval_step(state, images, labels):
    logits = state.apply_fn(
        {"params": state.params, "batch_stats": state.batch_stats}, images, train=False
    )
    return jnp.mean(jnp.argmax(logits, -1) == labels)


def main():
    rng = np.random.default_rng(0)
    images = rng.normal(3.0, 5.0, (256, 16, 16, 3)).astype(np.float32)
    labels = rng.integers(0, 10, 256)
    state = create_state(jax.random.key(0), 0.05)
    for epoch in range(3):
        for i in range(0, 256, 64):
            state, metrics = train_step(state, images[i : i + 64], labels[i : i + 64])
        acc = eval_step(state, images, labels)
        print(epoch, metrics["accuracy"], acc)


if __name__ == "__main__":
    main()
