# source: jax-ml/jax#12966
# blind: sixth

"""CIFAR-style trainer, one replica per device."""
import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import jax_utils
from flax.training import train_state


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(32)(x.reshape((x.shape[0], -1))))
        return nn.Dense(10)(x)


@functools.partial(jax.pmap, axis_name="batch")  # finding-also
def train_step(state, images, labels):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    state = state.apply_gradients(grads=grads)  # finding
    return state, jax.lax.pmean(loss, axis_name="batch")


def main():
    n = jax.local_device_count()
    net = Net()
    params = net.init(jax.random.key(0), jnp.ones((1, 8, 8, 3)))["params"]
    state = train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))
    state = jax_utils.replicate(state)
    for step in range(3):
        images = jax.random.normal(jax.random.key(step), (n, 4, 8, 8, 3))
        labels = jnp.zeros((n, 4), jnp.int32)
        state, loss = train_step(state, images, labels)
    print(loss)


if __name__ == "__main__":
    main()
