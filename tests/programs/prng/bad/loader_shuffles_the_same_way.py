# source: google/brax#174
# blind: fourth

import jax
import jax.numpy as jnp


class Loader:
    """Batches of a data set that fits into memory, in a new order each epoch."""

    def __init__(self, arrays, batch_size, seed=0):
        self.arrays = arrays
        self.batch_size = batch_size
        self.key = jax.random.key(seed)

    def __len__(self):
        return self.arrays["x"].shape[0] // self.batch_size

    def __iter__(self):
        order = jax.random.permutation(self.key, self.arrays["x"].shape[0])  # finding
        for i in range(len(self)):
            rows = order[i * self.batch_size : (i + 1) * self.batch_size]
            yield {name: a[rows] for name, a in self.arrays.items()}


@jax.jit
def step(w, batch):
    grad = jax.grad(lambda w: jnp.mean((batch["x"] @ w - batch["y"]) ** 2))(w)
    return w - 0.05 * grad


def train(epochs):
    x = jnp.linspace(-1, 1, 256).reshape(64, 4)
    loader = Loader({"x": x, "y": x.sum(1)}, 8)
    w = jnp.zeros(4)
    for _ in range(epochs):
        for batch in loader:  # finding-also
            w = step(w, batch)
    return w


if __name__ == "__main__":
    print(train(3))
