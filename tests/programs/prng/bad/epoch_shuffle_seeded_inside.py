# source: google/flax#1047
# missed: not found yet

import jax
import jax.numpy as jnp


def shuffled_batches(x, y, batch_size, seed):
    perm = jax.random.permutation(jax.random.PRNGKey(seed), len(x))  # finding-also
    for start in range(0, len(x) - batch_size + 1, batch_size):
        idx = perm[start : start + batch_size]
        yield x[idx], y[idx]


@jax.jit
def sgd(w, x, y):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


def fit(x, y, epochs=3, seed=42):
    w = jnp.zeros(x.shape[1])
    for _ in range(epochs):
        for xb, yb in shuffled_batches(x, y, 4, seed):  # finding
            w = sgd(w, xb, yb)
    return w


if __name__ == "__main__":
    x = jnp.arange(24.0).reshape(12, 2) / 24
    print(fit(x, x.sum(1)))
