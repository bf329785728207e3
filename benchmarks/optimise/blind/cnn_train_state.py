import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training.train_state import TrainState


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(16, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        return nn.Dense(10)(x)


def create_state(rng, lr):
    model = CNN()
    params = model.init(rng, jnp.ones((1, 28, 28, 1)))["params"]
    return TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(lr, momentum=0.9))


def loss_fn(params, apply_fn, images, labels):
    logits = apply_fn({"params": params}, images)
    loss = optax.softmax_cross_entropy(logits, jax.nn.one_hot(labels, 10)).mean()
    return loss, logits


def train_epoch(state, images, labels, batch_size, rng):
    steps = len(images) // batch_size
    perm = np.asarray(jax.random.permutation(rng, len(images)))
    losses, accs = [], []
    for i in range(steps):
        idx = perm[i * batch_size : (i + 1) * batch_size]
        bx = images[idx]
        by = labels[idx]
        (loss, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params, state.apply_fn, bx, by)
        state = state.apply_gradients(grads=grads)
        acc = jnp.mean(jnp.argmax(logits, -1) == by)
        losses.append(loss.item())
        accs.append(acc.item())
    return state, np.mean(losses), np.mean(accs)


def main():
    rng = np.random.default_rng(0)
    images = rng.normal(size=(256, 28, 28, 1)).astype(np.float32)
    labels = rng.integers(0, 10, size=256)
    key = jax.random.PRNGKey(0)
    state = create_state(key, 0.05)
    for epoch in range(3):
        key, sub = jax.random.split(key)
        state, loss, acc = train_epoch(state, images, labels, 32, sub)
        print(f"{epoch} loss={loss:.3f} acc={acc:.3f}")


if __name__ == "__main__":
    main()
