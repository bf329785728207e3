"""Classify small glyphs with a flax CNN: TrainState, dropout, an evaluation after each epoch."""

from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class GlyphNet(nn.Module):
    classes: int = 6

    @nn.compact
    def __call__(self, x, train: bool):
        x = nn.Conv(8, (3, 3))(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = nn.Conv(16, (3, 3))(x)
        x = nn.relu(x)
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(32)(x)
        x = nn.relu(x)
        x = nn.Dropout(0.1, deterministic=not train)(x)
        return nn.Dense(self.classes)(x)


def make_data(rng, count, prototypes):
    labels = rng.integers(0, len(prototypes), size=count)
    images = prototypes[labels] + 1.2 * rng.normal(size=(count, 12, 12, 1))
    return images.astype(np.float32), labels.astype(np.int32)


def batches(images, labels, size):
    for start in range(0, len(images), size):
        yield images[start : start + size], labels[start : start + size]


def create_state(key, learning_rate, steps):
    model = GlyphNet()
    params = jax.jit(partial(model.init, train=False))(key, jnp.ones((1, 12, 12, 1)))["params"]
    schedule = optax.cosine_decay_schedule(learning_rate, steps)
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-4))
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=tx)


def compute_metrics(logits, labels):
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    return {"loss": loss, "accuracy": accuracy}


@partial(jax.jit, donate_argnums=0)
def train_step(state, images, labels, key):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images, train=True, rngs={"dropout": key})
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, logits

    (_, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads)
    return state, compute_metrics(logits, labels)


@jax.jit
def eval_step(state, images, labels, mask):
    logits = state.apply_fn({"params": state.params}, images, train=False)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
    correct = (jnp.argmax(logits, -1) == labels) & mask
    return jnp.sum(losses * mask), jnp.sum(correct)


def evaluate(state, images, labels, size):
    total_loss, correct = 0.0, 0
    for x, y in batches(images, labels, size):
        missing = size - len(y)
        x = np.pad(x, ((0, missing), (0, 0), (0, 0), (0, 0)))
        loss, right = eval_step(state, x, np.pad(y, (0, missing)), np.arange(size) < len(y))
        total_loss, correct = total_loss + loss, correct + right
    total_loss, correct = float(total_loss), int(correct)
    return total_loss / len(labels), correct / len(labels)


def main():
    rng = np.random.default_rng(0)
    prototypes = rng.normal(size=(6, 12, 12, 1))
    train_images, train_labels = make_data(rng, 320, prototypes)
    test_images, test_labels = make_data(rng, 110, prototypes)
    key = jax.random.PRNGKey(0)
    key, init_key = jax.random.split(key)
    state = create_state(init_key, 3e-3, 3 * 10)

    for epoch in range(3):
        order = rng.permutation(len(train_images))
        history = []
        for x, y in batches(train_images[order], train_labels[order], 32):
            key, dropout_key = jax.random.split(key)
            state, metrics = train_step(state, x, y, dropout_key)
            history.append(metrics)
        history = jax.device_get(history)
        train_loss = np.mean([m["loss"] for m in history])
        train_acc = np.mean([m["accuracy"] for m in history])
        test_loss, test_acc = evaluate(state, test_images, test_labels, 40)
        print(
            f"epoch {epoch}: train loss {train_loss:.3f} acc {train_acc:.3f} "
            f"test loss {test_loss:.3f} acc {test_acc:.3f}"
        )


if __name__ == "__main__":
    main()
