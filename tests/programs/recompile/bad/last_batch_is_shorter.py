# blind: tenth
# missed: one more compilation at the end of each pass is let go

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def accuracy(w, x, y):
    return jnp.sum(jnp.argmax(x @ w, axis=1) == y)


def evaluate(w, images, labels, batch_size=64):
    correct = []
    for lo in range(0, len(images), batch_size):
        hi = min(lo + batch_size, len(images))
        correct.append(accuracy(w, images[lo:hi], labels[lo:hi]))  # finding
    return jnp.stack(correct).sum() / len(images)


images = np.random.default_rng(0).normal(size=(1000, 20)).astype(np.float32)
labels = np.zeros(1000, np.int32)
print(evaluate(jnp.ones((20, 10)), images, labels))
