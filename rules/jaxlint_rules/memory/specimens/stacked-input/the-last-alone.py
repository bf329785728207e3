# results of all steps, of which the last is read, or more than the last

import jax
import jax.numpy as jnp


def solve(f, y0, n):
    def body(y, i):
        y = y + 0.01 * f(y)
        return y, y

    _, path = jax.lax.scan(body, y0, jnp.arange(n))  # finding
    return path[-1]


def fit(params, batches):
    def step(params, batch):
        params = jax.tree.map(lambda p: p - 0.1 * batch.mean(), params)
        return params, (params, batch.sum())

    params, (history, losses) = jax.lax.scan(step, params, batches)  # finding
    return jax.tree.map(lambda p: p[-1], history), losses


def snapshots(params, batches):
    def step(params, batch):
        params = params - batch.mean()
        return params, params

    params, history = jax.lax.scan(step, params, batches)  # finding
    return jax.tree.map(lambda p: p[-1], history)


def trajectory(f, y0, n):
    def body(y, _):
        y = y + 0.01 * f(y)
        return y, y

    last, path = jax.lax.scan(body, y0, None, length=n)
    return path[-1], path.mean(0)


def energies(y0, n):
    def body(y, _):
        return y * 0.9, jnp.sum(y)

    y, energy = jax.lax.scan(body, y0, None, length=n)
    return y, energy[-1]


solve(jnp.tanh, jnp.ones(3), 10)
fit({"w": jnp.ones(3)}, jnp.ones((4, 2)))
snapshots(jnp.ones(3), jnp.ones((4, 2)))
trajectory(jnp.tanh, jnp.ones(3), 5)
energies(jnp.ones(3), 5)
