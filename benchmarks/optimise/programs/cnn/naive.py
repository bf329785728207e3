"""Trains a small convolutional network in flax nnx on noisy shapes, with random crops and flips."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.conv1 = nnx.Conv(1, 16, (3, 3), rngs=rngs)
        self.conv2 = nnx.Conv(16, 32, (3, 3), rngs=rngs)
        self.dense = nnx.Linear(32 * 6 * 6, 4, rngs=rngs)

    def __call__(self, x):
        x = nnx.max_pool(nnx.relu(self.conv1(x)), (2, 2), (2, 2))
        x = nnx.max_pool(nnx.relu(self.conv2(x)), (2, 2), (2, 2))
        return self.dense(x.reshape(x.shape[0], -1))


def make_data(count):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, size=count)
    images = 0.3 * rng.standard_normal((count, 28, 28, 1))
    for image, label in zip(images, labels):
        row, column = rng.integers(4, 16, size=2)
        image[row : row + 4 + 2 * label, column : column + 10 - 2 * label] += 1.0
    return images.astype(np.float32), labels.astype(np.int32)


def augment(key, image):
    crop_key, flip_key = jax.random.split(key)
    start = jax.random.randint(crop_key, (2,), 0, 5)
    image = jax.lax.dynamic_slice(image, (start[0], start[1], 0), (24, 24, 1))
    return jnp.where(jax.random.bernoulli(flip_key), image[:, ::-1], image)


def augment_batch(key, images):
    keys = jax.random.split(key, len(images))
    return jnp.stack([augment(k, image) for k, image in zip(keys, images)])


@nnx.jit
def train_step(model, optimizer, images, labels):
    def loss_fn(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(images), labels).mean()

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()

    images, labels = make_data(2_000)
    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(2e-3), wrt=nnx.Param)
    key = jax.random.PRNGKey(1)
    rng = np.random.default_rng(1)
    for step in range(args.steps):
        rows = rng.integers(0, len(images), size=args.batch_size)
        key, augment_key = jax.random.split(key)
        batch = augment_batch(augment_key, images[rows])
        loss = train_step(model, optimizer, batch, labels[rows])
        if step % 4 == 0:
            print(f"step {step} loss {float(loss):.4f}")


if __name__ == "__main__":
    main()
