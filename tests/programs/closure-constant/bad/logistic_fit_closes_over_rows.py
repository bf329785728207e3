# source: jax-ml/jax#3220
# blind: seventh

import jax
import jax.numpy as jnp
import numpy as np
import optax


def fit(path, steps=100, rate=0.1):
    table = np.load(path)
    x, y = jnp.asarray(table["x"]), jnp.asarray(table["y"])

    def negative_log_likelihood(w):
        logits = x @ w  # finding-also
        return optax.sigmoid_binary_cross_entropy(logits, y).mean()  # finding-also

    value_and_grad = jax.jit(jax.value_and_grad(negative_log_likelihood))  # finding
    w = jnp.zeros(x.shape[1])
    for _ in range(steps):
        value, grad = value_and_grad(w)
        w = w - rate * grad
    return w, value


def make_file(path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500_000, 64)).astype(np.float32)
    np.savez(path, x=x, y=(x[:, 0] > 0).astype(np.float32))


if __name__ == "__main__":
    make_file("rows.npz")
    print(fit("rows.npz"))
