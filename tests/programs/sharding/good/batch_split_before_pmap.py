# source: google/flax#2431
# blind: seventh

import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import jax_utils
from flax.training import common_utils, train_state
import flax.linen as nn
import optax

BATCH_SIZE = 128


class Classifier(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(10)(nn.relu(nn.Dense(64)(x)))


@functools.partial(jax.pmap, axis_name="batch", donate_argnums=0)
def train_step(state, images, labels):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    grads = jax.lax.pmean(grads, axis_name="batch")
    return state.apply_gradients(grads=grads), jax.lax.pmean(loss, axis_name="batch")


def batches(rng, steps):
    for _ in range(steps):
        yield rng.normal(size=(BATCH_SIZE, 784)).astype(np.float32), rng.integers(0, 10, BATCH_SIZE)


def main():
    model = Classifier()
    params = model.init(jax.random.key(0), jnp.ones((1, 784)))["params"]
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-3))
    state = jax_utils.replicate(state)
    for images, labels in batches(np.random.default_rng(0), 10):
        images, labels = common_utils.shard((images, labels))
        state, loss = train_step(state, images, labels)
    print(jax_utils.unreplicate(loss))


if __name__ == "__main__":
    main()
