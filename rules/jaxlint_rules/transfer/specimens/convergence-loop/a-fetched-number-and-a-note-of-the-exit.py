# a number that is fetched for the test, and a note of the exit
import jax.numpy as jnp


def cluster(x, centers, max_iter, tolerance):
    converged = False
    for _ in range(max_iter):
        distances = jnp.sum((x[:, None] - centers[None]) ** 2, axis=2)
        weights = jnp.exp(-distances)
        new = (weights.T @ x) / weights.sum(axis=0)[:, None]
        shift = float(jnp.abs(new - centers).max())
        centers = new
        if shift <= tolerance:  # finding
            converged = True
            break
    return centers, converged


def shown(x, centers, max_iter, tolerance):
    for _ in range(max_iter):
        new = jnp.tanh(centers @ x)
        shift = float(jnp.abs(new - centers).max())
        print(shift)
        centers = new
        if shift <= tolerance:
            break
    return centers


def counted(x, limit):
    total = 0.0
    for step in range(limit):
        total = total + float(step)
        if total > 10.0:
            break
    return total * jnp.ones(3)


def read_alone(x, steps):
    last = 0.0
    for _ in range(steps):
        x = jnp.sin(x)
        last = float(x.sum())
    return x, last


cluster(jnp.ones((10, 2)), jnp.ones((3, 2)), 100, 1e-4)
