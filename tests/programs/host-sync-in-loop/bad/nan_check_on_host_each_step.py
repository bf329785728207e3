# blind: eighteenth

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(8, (3, 3))(x))
        x = x.mean(axis=(1, 2))
        return nn.Dense(10)(x)


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, images, labels):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def synthetic(rng, n, size):
    for _ in range(n):
        yield rng.normal(size=(size, 8, 8, 1)).astype(np.float32), rng.integers(0, 10, size)


def train(steps=6):
    model = CNN()
    params = model.init(jax.random.key(0), jnp.zeros((1, 8, 8, 1)))["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))
    for step, (images, labels) in enumerate(synthetic(np.random.default_rng(0), steps, 16)):
        state, loss = train_step(state, images, labels)
        if jnp.isnan(loss):  # finding
            raise FloatingPointError(f"nan loss at step {step}")
    return state, loss


if __name__ == "__main__":
    print(train()[1])
