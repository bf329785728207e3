"""Elliptical slice sampling of a Gaussian process classifier.

The expert runs ten steps as one scan, with a `while_loop` for the bracket, and factors the matrix once.
"""

import jax
import jax.numpy as jnp
import numpy as np


def kernel(a, b, scale, length):
    distance = jnp.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)
    return scale**2 * jnp.exp(-0.5 * distance / length**2)


def log_likelihood(f, y):
    return -jnp.sum(jax.nn.softplus(-y * f))


def slice_step(key, f, chol, y):
    """One step; shrinks the bracket until a point on the ellipse is accepted."""
    k1, k2, k3, key = jax.random.split(key, 4)
    nu = chol @ jax.random.normal(k1, f.shape)
    threshold = log_likelihood(f, y) + jnp.log(jax.random.uniform(k2))
    theta = jax.random.uniform(k3, minval=0.0, maxval=2 * jnp.pi)
    low, high = theta - 2 * jnp.pi, theta

    def propose(theta):
        return f * jnp.cos(theta) + nu * jnp.sin(theta)

    def rejected(carry):
        _, theta, _, _, _ = carry
        return ~(log_likelihood(propose(theta), y) > threshold)

    def shrink(carry):
        key, theta, low, high, tries = carry
        low, high = jnp.where(theta < 0, theta, low), jnp.where(theta < 0, high, theta)
        key, sub = jax.random.split(key)
        return key, jax.random.uniform(sub, minval=low, maxval=high), low, high, tries + 1

    _, theta, _, _, tries = jax.lax.while_loop(rejected, shrink, (key, theta, low, high, 1))
    return propose(theta), tries


@jax.jit
def ten_steps(key, f, chol, y):
    def body(carry, _):
        key, f = carry
        key, sub = jax.random.split(key)
        f, tries = slice_step(sub, f, chol, y)
        return (key, f), (f, tries)

    (key, f), (fs, tries) = jax.lax.scan(body, (key, f), None, length=10)
    return key, f, fs[0], tries.sum()


@jax.jit
def predict(cross, factor, f):
    return jax.nn.sigmoid(cross @ jax.scipy.linalg.cho_solve((factor, True), f))


def make_data(key, count):
    k1, k2 = jax.random.split(key)
    x = jax.random.uniform(k1, (count, 2), minval=-2, maxval=2)
    noise = 0.3 * jax.random.normal(k2, (count,))
    return x, jnp.where(jnp.sin(2 * x[:, 0]) + x[:, 1] + noise > 0, 1.0, -1.0)


def main():
    key = jax.random.PRNGKey(8)
    key, data_key = jax.random.split(key)
    x, y = make_data(data_key, 120)
    grid = jnp.stack(jnp.meshgrid(jnp.linspace(-2, 2, 9), jnp.linspace(-2, 2, 9)), -1).reshape(-1, 2)
    k = kernel(x, x, 2.0, 0.8) + 1e-4 * jnp.eye(len(x))
    chol = jnp.linalg.cholesky(k)
    cross = kernel(grid, x, 2.0, 0.8)
    f = jnp.zeros(len(x))
    total_tries = 0
    samples = []
    predictions = []
    for i in range(0, 6000, 10):
        key, f, first, tries = ten_steps(key, f, chol, y)
        total_tries += tries
        if i >= 300:
            samples.append(first)
            predictions.append(predict(cross, chol, first))
        if (i + 10) % 1500 == 0:
            print(f"{i + 10}: log likelihood {log_likelihood(f, y):.2f}, tries {int(total_tries) / (i + 10):.2f}")
    samples = np.array(jnp.stack(samples))
    probabilities = np.array(jnp.stack(predictions)).mean(axis=0)
    print(f"posterior mean {samples.mean():.3f}, deviation {samples.std(axis=0).mean():.3f}")
    print("probabilities", " ".join(f"{p:.2f}" for p in probabilities[::16]))


if __name__ == "__main__":
    main()
