# blind: tenth

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


class ConvNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (64, 128, 256):
            x = nn.relu(nn.Conv(width, (3, 3), strides=2)(x))
        return nn.Dense(10)(x.mean(axis=(1, 2)))


@jax.jit  # finding-also
def train_step(state, images, labels):  # finding
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def main(batches):
    model = ConvNet()
    params = model.init(jax.random.key(0), jnp.ones((1, 32, 32, 3)))["params"]
    state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-3))
    for images, labels in batches:
        state, loss = train_step(state, images, labels)
    return loss


print(main([(jnp.ones((4, 32, 32, 3)), jnp.zeros(4, jnp.int32))] * 3))
