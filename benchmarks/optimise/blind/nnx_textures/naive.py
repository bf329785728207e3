"""Classify small grating textures with an MLP-mixer in flax nnx, keeping a moving average of the weights."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


@dataclass
class Config:
    size: int = 16
    patch: int = 4
    classes: int = 6
    width: int = 32
    token_hidden: int = 24
    channel_hidden: int = 64
    layers: int = 2
    train_images: int = 640
    test_images: int = 240
    batch_size: int = 32
    epochs: int = 6
    learning_rate: float = 2e-3
    ema_decay: float = 0.98
    seed: int = 3


class MixerBlock(nnx.Module):
    def __init__(self, config, tokens, rngs):
        self.norm1 = nnx.LayerNorm(config.width, rngs=rngs)
        self.token1 = nnx.Linear(tokens, config.token_hidden, rngs=rngs)
        self.token2 = nnx.Linear(config.token_hidden, tokens, rngs=rngs)
        self.norm2 = nnx.LayerNorm(config.width, rngs=rngs)
        self.channel1 = nnx.Linear(config.width, config.channel_hidden, rngs=rngs)
        self.channel2 = nnx.Linear(config.channel_hidden, config.width, rngs=rngs)

    def __call__(self, x):
        h = jnp.swapaxes(self.norm1(x), 1, 2)
        x = x + jnp.swapaxes(self.token2(nnx.gelu(self.token1(h))), 1, 2)
        return x + self.channel2(nnx.gelu(self.channel1(self.norm2(x))))


class Mixer(nnx.Module):
    def __init__(self, config, rngs):
        self.patch = config.patch
        tokens = (config.size // config.patch) ** 2
        self.embed = nnx.Linear(config.patch**2, config.width, rngs=rngs)
        self.blocks = nnx.List([MixerBlock(config, tokens, rngs) for _ in range(config.layers)])
        self.norm = nnx.LayerNorm(config.width, rngs=rngs)
        self.head = nnx.Linear(config.width, config.classes, rngs=rngs)

    def __call__(self, images):
        n, size, p = images.shape[0], images.shape[1], self.patch
        x = images.reshape(n, size // p, p, size // p, p).transpose(0, 1, 3, 2, 4).reshape(n, -1, p * p)
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x).mean(axis=1))


def make_images(config):
    rng = np.random.default_rng(config.seed)
    n = config.train_images + config.test_images
    labels = rng.integers(0, config.classes, size=n)
    grid = np.arange(config.size)
    images = []
    for label in labels:
        angle = np.pi * label / config.classes + rng.normal() * 0.08
        wave = np.cos(angle) * grid[:, None] + np.sin(angle) * grid[None, :]
        image = np.sin(2 * np.pi * wave / rng.uniform(4, 7) + rng.uniform(0, 2 * np.pi))
        images.append(image + 0.9 * rng.normal(size=(config.size, config.size)))
    images = np.array(images, np.float32)
    k = config.train_images
    return (images[:k], labels[:k]), (images[k:], labels[k:])


def augment(images, rng):
    shifts = rng.integers(-3, 4, size=(len(images), 2))
    invert = rng.random(len(images)) < 0.5
    out = np.empty_like(images)
    for i, image in enumerate(images):
        image = np.roll(image, shifts[i], axis=(0, 1))
        out[i] = -image if invert[i] else image
    return out


def loss_fn(model, images, labels):
    logits = model(images)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    return loss, logits


@nnx.jit
def train_step(model, optimizer, images, labels):
    (loss, logits), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model, images, labels)
    optimizer.update(model, grads)
    return loss, (logits.argmax(-1) == labels).mean()


def accuracy(model, images, labels, batch_size=32):
    correct = 0
    for i in range(0, len(labels), batch_size):
        logits = model(jnp.asarray(images[i : i + batch_size]))
        correct += int((logits.argmax(-1) == labels[i : i + batch_size]).sum())
    return correct / len(labels)


def main():
    config = Config()
    (train_x, train_y), (test_x, test_y) = make_images(config)
    model = Mixer(config, nnx.Rngs(config.seed))
    optimizer = nnx.Optimizer(model, optax.adamw(config.learning_rate, weight_decay=1e-2), wrt=nnx.Param)
    average = jax.tree.map(jnp.copy, nnx.state(model, nnx.Param))
    graphdef, _ = nnx.split(model)
    rng = np.random.default_rng(config.seed + 1)

    for epoch in range(1, config.epochs + 1):
        losses, hits = [], []
        order = rng.permutation(config.train_images)
        for i in range(0, config.train_images, config.batch_size):
            rows = order[i : i + config.batch_size]
            images = augment(train_x[rows], rng)
            loss, hit = train_step(model, optimizer, jnp.asarray(images), jnp.asarray(train_y[rows]))
            losses.append(float(loss))
            hits.append(float(hit))
            params = nnx.state(model, nnx.Param)
            average = jax.tree.map(
                lambda a, p: config.ema_decay * a + (1 - config.ema_decay) * p, average, params
            )
        if epoch % 2 == 0:
            averaged = nnx.merge(graphdef, average)
            print(
                f"epoch {epoch}: loss {np.mean(losses):.3g}, train accuracy {np.mean(hits):.3f}, "
                f"test accuracy {accuracy(model, test_x, test_y):.3f}, averaged {accuracy(averaged, test_x, test_y):.3f}"
            )


if __name__ == "__main__":
    main()
