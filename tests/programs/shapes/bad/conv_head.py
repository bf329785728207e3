# blind: twentieth

"""Digit classifier in flax nnx."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import optax
from flax import nnx


@dataclass(frozen=True)
class Config:
    image: int = 28
    channels: int = 1
    width: int = 16
    classes: int = 10
    lr: float = 1e-3

    @property
    def flat_features(self):
        side = self.image // 4  # finding
        return side * side * 2 * self.width  # finding-also


class ConvNet(nnx.Module):
    def __init__(self, cfg, rngs):
        w = cfg.width
        self.conv1 = nnx.Conv(cfg.channels, w, (3, 3), padding="VALID", rngs=rngs)  # finding-also
        self.conv2 = nnx.Conv(w, 2 * w, (3, 3), padding="VALID", rngs=rngs)  # finding-also
        self.head = nnx.Linear(cfg.flat_features, cfg.classes, rngs=rngs)  # finding-also

    def __call__(self, x):
        x = nnx.max_pool(nnx.relu(self.conv1(x)), (2, 2), strides=(2, 2))
        x = nnx.max_pool(nnx.relu(self.conv2(x)), (2, 2), strides=(2, 2))
        return self.head(x.reshape(x.shape[0], -1))  # finding-also


def loss_fn(model, images, labels):
    logits = model(images)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@partial(nnx.jit, donate_argnums=(0, 1))
def train_step(model, optimizer, images, labels):
    loss, grads = nnx.value_and_grad(loss_fn)(model, images, labels)
    optimizer.update(model, grads)
    return loss


def main(steps=10):
    cfg = Config()
    k_images, k_labels = jax.random.split(jax.random.key(1))
    images = jax.random.uniform(k_images, (32, cfg.image, cfg.image, cfg.channels))
    labels = jax.random.randint(k_labels, (32,), 0, cfg.classes)
    model = ConvNet(cfg, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(cfg.lr), wrt=nnx.Param)
    for _ in range(steps):
        loss = train_step(model, optimizer, images, labels)
    print("loss", float(jnp.asarray(loss)))


if __name__ == "__main__":
    main()
