# blind: twentieth
# missed: that each batch converts all rows

"""Linear probe on a set of small images kept on the host."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax


class ImageSet:
    """Byte images with per-channel normalisation."""

    def __init__(self, images, labels, mean, std):
        self.images = images
        self.labels = labels
        self.mean = np.asarray(mean, np.float32)
        self.std = np.asarray(std, np.float32)

    def __len__(self):
        return len(self.images)

    def normalised(self):
        scaled = jnp.asarray(self.images, dtype=jnp.float32) / 255.0  # finding
        return (scaled - self.mean) / self.std  # finding-also

    def batch(self, rows):
        return self.normalised()[rows], self.labels[rows]  # finding-also


def make_set(size=4000, side=24, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, size).astype(np.int32)
    images = rng.integers(0, 160, (size, side, side, 3), dtype=np.uint8)
    images[np.arange(size), labels, :, 0] += 90
    return ImageSet(images, labels, mean=(0.33, 0.31, 0.31), std=(0.19, 0.18, 0.18))


def init_params(features, classes=10):
    return {"w": jnp.zeros((features, classes)), "b": jnp.zeros(classes)}


def loss_fn(params, x, y):
    logits = x.reshape(x.shape[0], -1) @ params["w"] + params["b"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def make_step(tx):
    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def train(data, steps=60, batch=64, lr=1e-3):
    params = init_params(int(np.prod(data.images.shape[1:])))
    tx = optax.adam(lr)
    opt_state = tx.init(params)
    step = make_step(tx)
    rng = np.random.default_rng(1)
    for _ in range(steps):
        rows = rng.choice(len(data), batch, replace=False)
        x, y = data.batch(rows)  # finding-also
        params, opt_state, loss = step(params, opt_state, x, y)
    return params, loss


def main():
    data = make_set()
    _, loss = train(data)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
