# blind: twenty-first
# missed: which axis of pictures holds the channels

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class SmallCNN(nn.Module):
    classes: int = 10

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(16, (3, 3), strides=(2, 2))(x))  # finding-also
        x = nn.relu(nn.Conv(32, (3, 3), strides=(2, 2))(x))
        x = x.mean(axis=(1, 2))
        return nn.Dense(self.classes)(x)


class TorchStyleLoader:
    def __init__(self, n, batch, seed=0):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 10, size=(n,)).astype(np.int32)
        base = rng.normal(size=(n, 3, 16, 16)).astype(np.float32)
        self.images = base + self.labels[:, None, None, None] * 0.1
        self.batch = batch

    def __iter__(self):
        for i in range(0, len(self.labels), self.batch):
            yield self.images[i:i + self.batch], self.labels[i:i + self.batch]


def loss_fn(params, model, images, labels):
    logits = model.apply(params, images)  # finding
    ce = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
    return ce.mean()


def main():
    model = SmallCNN()
    loader = TorchStyleLoader(64, 16)
    params = jax.jit(model.init)(jax.random.key(0), jnp.zeros((1, 3, 16, 16)))  # finding-also
    tx = optax.sgd(1e-2)
    opt_state = tx.init(params)

    @jax.jit
    def step(params, opt_state, images, labels):
        loss, grads = jax.value_and_grad(loss_fn)(params, model, images, labels)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    for _ in range(2):
        for images, labels in loader:
            params, opt_state, loss = step(params, opt_state, images, labels)
    kernel = params["params"]["Conv_0"]["kernel"]
    print("loss", float(loss))
    print("first kernel", kernel.shape, "for a loader batch of", images.shape)


if __name__ == "__main__":
    main()
