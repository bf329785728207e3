"""Classify small grating textures with an MLP-mixer in flax nnx, keeping a moving average of the weights."""
from dataclasses import dataclass
from functools import partial

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


def augment(images, shifts, invert):
    source = (jnp.arange(images.shape[1]) - shifts[:, :, None]) % images.shape[1]
    rolled = jax.vmap(lambda image, index: image[index[0][:, None], index[1]])(images, source)
    return jnp.where(invert[:, None, None], -rolled, rolled)


def make_train_epoch(config, graphdef, tx):
    def loss_fn(params, images, labels):
        logits = nnx.merge(graphdef, params)(images)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, logits

    def correct(params, images, labels):
        return (nnx.merge(graphdef, params)(images).argmax(-1) == labels).sum()

    @partial(jax.jit, donate_argnums=0)
    def train_epoch(carry, train, test, order, shifts, invert):
        images, labels = train

        def step(carry, batch):
            params, opt_state, average = carry
            rows, shift, inverted = batch
            x, y = augment(images[rows], shift, inverted), labels[rows]
            (loss, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, x, y)
            updates, opt_state = tx.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            average = jax.tree.map(lambda a, p: config.ema_decay * a + (1 - config.ema_decay) * p, average, params)
            return (params, opt_state, average), (loss, (logits.argmax(-1) == y).mean())

        carry, (losses, hits) = jax.lax.scan(step, carry, (order, shifts, invert))
        params, _, average = carry
        return carry, losses, hits, correct(params, *test), correct(average, *test)

    return train_epoch


def main():
    config = Config()
    train, test = jax.device_put(make_images(config))
    tx = optax.adamw(config.learning_rate, weight_decay=1e-2)
    graphdef = nnx.graphdef(nnx.eval_shape(lambda: Mixer(config, nnx.Rngs(config.seed))))

    @jax.jit
    def init():
        params = nnx.state(Mixer(config, nnx.Rngs(config.seed)), nnx.Param)
        return params, tx.init(params), jax.tree.map(jnp.copy, params)

    carry = init()
    train_epoch = make_train_epoch(config, graphdef, tx)
    rng = np.random.default_rng(config.seed + 1)
    steps = config.train_images // config.batch_size

    for epoch in range(1, config.epochs + 1):
        order = rng.permutation(config.train_images).reshape(steps, -1)
        draws = [(rng.integers(-3, 4, size=(config.batch_size, 2)), rng.random(config.batch_size) < 0.5) for _ in order]
        shifts, invert = (np.stack(d) for d in zip(*draws))
        carry, losses, hits, plain, averaged = train_epoch(carry, train, test, order, shifts, invert)
        if epoch % 2 == 0:
            print(
                f"epoch {epoch}: loss {np.mean(losses):.3g}, train accuracy {np.mean(hits, dtype=float):.3f}, "
                f"test accuracy {int(plain) / config.test_images:.3f}, averaged {int(averaged) / config.test_images:.3f}"
            )


if __name__ == "__main__":
    main()
