"""Elliptical slice sampling of a Gaussian process classifier."""

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
    tries = 0
    while True:
        proposal = f * jnp.cos(theta) + nu * jnp.sin(theta)
        tries += 1
        if log_likelihood(proposal, y) > threshold:
            return proposal, tries
        if theta < 0:
            low = theta
        else:
            high = theta
        key, sub = jax.random.split(key)
        theta = jax.random.uniform(sub, minval=low, maxval=high)


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
    for i in range(6000):
        key, sub = jax.random.split(key)
        f, tries = slice_step(sub, f, chol, y)
        total_tries += tries
        if i >= 300 and i % 10 == 0:
            samples.append(f)
            mean = cross @ jnp.linalg.solve(k, f)
            predictions.append(jax.nn.sigmoid(mean))
        if (i + 1) % 1500 == 0:
            print(f"{i + 1}: log likelihood {log_likelihood(f, y):.2f}, tries {total_tries / (i + 1):.2f}")
    samples = np.array(jnp.stack(samples))
    probabilities = np.array(jnp.stack(predictions)).mean(axis=0)
    print(f"posterior mean {samples.mean():.3f}, deviation {samples.std(axis=0).mean():.3f}")
    print("probabilities", " ".join(f"{p:.2f}" for p in probabilities[::16]))


if __name__ == "__main__":
    main()
