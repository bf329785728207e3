# blind: sixteenth

"""Classification with augmentation by NumPy in the loader, before the compiled step."""

import jax
import jax.numpy as jnp
import numpy as np
import optax


class Loader:
    def __init__(self, images, labels, batch, seed=0):
        self.images, self.labels, self.batch = images, labels, batch
        self.rng = np.random.default_rng(seed)

    def augment(self, images):
        flip = self.rng.random(len(images)) < 0.5
        images = np.where(flip[:, None, None, None], images[:, :, ::-1], images)
        factor = self.rng.uniform(0.6, 1.4, (len(images), 1, 1, 1)).astype(np.float32)
        return images * factor

    def __iter__(self):
        order = self.rng.permutation(len(self.images))
        for i in range(0, len(order) - self.batch + 1, self.batch):
            idx = order[i : i + self.batch]
            yield self.augment(self.images[idx]), self.labels[idx]


def init(key, pixels, classes=10):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (pixels, 128)) / np.sqrt(pixels),
        "b1": jnp.zeros(128),
        "w2": jax.random.normal(k2, (128, classes)) / np.sqrt(128),
    }


def loss_fn(params, images, labels):
    x = images.reshape(images.shape[0], -1)
    logits = jax.nn.relu(x @ params["w1"] + params["b1"]) @ params["w2"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


optimizer = optax.adam(1e-3)


@jax.jit  # finding-other
def train_step(params, opt_state, images, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, images, labels)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    rng = np.random.default_rng(1)
    images = rng.random((500, 16, 16, 3), dtype=np.float32)
    labels = rng.integers(0, 10, 500)
    loader = Loader(images, labels, 64)
    params = init(jax.random.PRNGKey(0), 16 * 16 * 3)
    opt_state = optimizer.init(params)
    for epoch in range(3):
        losses = []
        for batch_images, batch_labels in loader:
            params, opt_state, loss = train_step(params, opt_state, batch_images, batch_labels)
            losses.append(loss)
        print(epoch, np.mean(jax.device_get(losses)))


if __name__ == "__main__":
    main()
