# windows of one length, histories that now and then grow, and a step before or after the growth
import jax
import jax.numpy as jnp


@jax.jit
def posterior(xs, ys, grid):
    weights = jax.nn.softmax(-((grid[:, None] - xs) ** 2), axis=1)
    return weights @ ys


def window(history, x):
    return jnp.concatenate([history[1:], x[None]])


def slide(grid, rounds):
    history = jnp.zeros(8)
    for i in range(rounds):
        mean = posterior(history, history, grid)
        history = window(history, mean[i])
    return history


class History:
    def __init__(self, size):
        self.xs = jnp.zeros(size)
        self.count = 0

    def add(self, x):
        self.xs = self.xs.at[self.count].set(x)
        self.count += 1


def fill(grid, rounds):
    history = History(64)
    for _ in range(rounds):
        mean = posterior(history.xs, history.xs, grid)
        history.add(mean[0])
    return history


def push(results, x):
    return jnp.concatenate([results, x[None]])


def keep(xs, grid, rounds):
    results = jnp.zeros(1)
    for i in range(rounds):
        mean = posterior(xs, xs, grid)
        results = push(results, mean[i])
    return results


def seldom(xs, grid, rounds):
    for i in range(rounds):
        mean = posterior(xs, xs, grid)
        if i % 100 == 99:
            xs = push(xs, mean[i])
    return xs
