# After flax' examples/imagenet/train.py (TrainState with batch_stats, jitted steps, metrics on the device) and examples/mnist/train.py.
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        for width in (128, 64):
            x = nn.Dense(width)(x)
            x = nn.BatchNorm(use_running_average=not train)(x)
            x = nn.relu(x)
            x = nn.Dropout(0.2, deterministic=not train)(x)
        return nn.Dense(5)(x)


class TrainState(train_state.TrainState):
    batch_stats: dict


def make_data(rng, count):
    centers = rng.normal(size=(5, 20)) * 1.5
    labels = rng.integers(0, 5, size=count)
    return centers[labels] + rng.normal(size=(count, 20)), labels


@partial(jax.jit, donate_argnums=0)
def train_step(state, batch, labels, dropout_key):
    def loss_fn(params):
        logits, mutated = state.apply_fn(
            {"params": params, "batch_stats": state.batch_stats},
            batch,
            train=True,
            rngs={"dropout": dropout_key},
            mutable=["batch_stats"],
        )
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, (logits, mutated)

    (loss, (logits, mutated)), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    state = state.apply_gradients(grads=grads, batch_stats=mutated["batch_stats"])
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    return state, {"loss": loss, "accuracy": accuracy}


@jax.jit
def count_correct(state, x, y):
    logits = state.apply_fn({"params": state.params, "batch_stats": state.batch_stats}, x, train=False)
    return jnp.sum(jnp.argmax(logits, -1) == y)


def evaluate(state, x, y, batch_size=128):
    counts = [
        count_correct(state, x[start : start + batch_size], y[start : start + batch_size])
        for start in range(0, len(x), batch_size)
    ]
    return sum(int(count) for count in counts) / len(x)


def main():
    rng = np.random.default_rng(0)
    x, y = make_data(rng, 1024)
    x, y = x.astype(np.float32), y.astype(np.int32)
    train_x, train_y, test_x, test_y = x[:768], y[:768], x[768:], y[768:]
    model = Net()
    key = jax.random.PRNGKey(0)
    key, init_key = jax.random.split(key)
    variables = jax.jit(partial(model.init, train=False))(
        {"params": init_key, "dropout": init_key}, jnp.ones((1, 20))
    )
    state = TrainState.create(
        apply_fn=model.apply,
        params=variables["params"],
        tx=optax.adam(1e-3),
        batch_stats=variables["batch_stats"],
    )
    for epoch in range(3):
        order = rng.permutation(len(train_x))
        metrics = []
        for start in range(0, len(train_x), 64):
            picked = order[start : start + 64]
            key, dropout_key = jax.random.split(key)
            state, m = train_step(state, train_x[picked], train_y[picked], dropout_key)
            metrics.append(m)
        metrics = jax.device_get(metrics)
        loss = np.mean([m["loss"] for m in metrics])
        accuracy = np.mean([m["accuracy"] for m in metrics])
        print(f"epoch {epoch}: loss {loss:.4f} accuracy {accuracy:.4f} test {evaluate(state, test_x, test_y):.4f}")


if __name__ == "__main__":
    main()
