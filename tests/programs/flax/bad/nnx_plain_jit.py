# source: google/flax#5293
# blind: nineteenth

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class ConvClassifier(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.conv = nnx.Conv(1, 8, kernel_size=(3, 3), rngs=rngs)
        self.dense = nnx.Linear(8 * 36, 32, rngs=rngs)
        self.head = nnx.Linear(32, 2, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.conv(x))
        x = nnx.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = x.reshape(x.shape[0], -1)
        return self.head(nnx.relu(self.dense(x)))


def cross_entropy(model, images, labels):
    logits = model(images)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


@jax.jit  # finding
def train_step(model, optimizer, images, labels):  # finding-also
    loss, grads = nnx.value_and_grad(cross_entropy)(model, images, labels)
    optimizer.update(model, grads)  # finding-also
    return loss


def bars(key, n):
    k_label, k_pos, k_noise = jax.random.split(key, 3)
    labels = jax.random.randint(k_label, (n,), 0, 2)
    pos = jax.random.randint(k_pos, (n,), 1, 11)
    line = jax.nn.one_hot(pos, 12)
    horizontal = jnp.broadcast_to(line[:, :, None], (n, 12, 12))
    vertical = jnp.broadcast_to(line[:, None, :], (n, 12, 12))
    images = jnp.where(labels[:, None, None] == 0, horizontal, vertical)
    return (images + 0.3 * jax.random.normal(k_noise, images.shape))[..., None], labels


def main():
    model = ConvClassifier(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(3e-3), wrt=nnx.Param)
    key = jax.random.key(1)
    for step in range(40):
        key, sub = jax.random.split(key)
        images, labels = bars(sub, 32)
        loss = train_step(model, optimizer, images, labels)  # finding-also
        if step % 20 == 0:
            print("step", step, "loss", float(loss))
    images, labels = bars(jax.random.key(99), 256)
    print("accuracy", float(jnp.mean(model(images).argmax(-1) == labels)))


if __name__ == "__main__":
    main()
