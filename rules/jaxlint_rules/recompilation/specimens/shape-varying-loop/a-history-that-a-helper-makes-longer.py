# a history that a method, a helper and a dict make longer
import jax
import jax.numpy as jnp


@jax.jit
def posterior(xs, ys, grid):
    weights = jax.nn.softmax(-((grid[:, None] - xs) ** 2), axis=1)
    return weights @ ys


class History:
    def __init__(self, x, y):
        self.xs = jnp.array([x])
        self.ys = jnp.array([y])

    def add(self, x, y):
        self.xs = jnp.append(self.xs, x)
        self.ys = jnp.append(self.ys, y)


def optimise(rounds):
    grid = jnp.linspace(0.0, 1.0, 200)
    history = History(0.5, 0.1)
    for _ in range(rounds):
        mean = posterior(history.xs, history.ys, grid)  # finding
        x = grid[jnp.argmax(mean)]
        history.add(x, jnp.sin(x))
    return history


def extended(data, x, y):
    xs, ys = data
    return jnp.concatenate([xs, x[None]]), jnp.append(ys, y)


def collect(grid, rounds):
    data = (jnp.zeros(1), jnp.zeros(1))
    for i in range(rounds):
        mean = posterior(data[0], data[1], grid)  # finding
        data = extended(data, grid[i], mean[i])
    return data


def push(store, x):
    store["x"] = jnp.concatenate([store["x"], x[None]])


def fill(grid, rounds):
    store = {"x": jnp.zeros(1)}
    for i in range(rounds):
        mean = posterior(store["x"], store["x"], grid)  # finding
        push(store, mean[i])
    return store
