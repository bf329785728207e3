# elements that index a list of Python
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)


class Graphs:
    def __init__(self, graphs):
        self.graphs = graphs

    def __getitem__(self, index):
        return self.graphs[index]

    def __len__(self):
        return len(self.graphs)


def train(w, rows, key):
    for _ in range(10000):
        key, sub = jax.random.split(key)
        chosen = jax.random.choice(sub, len(rows), (64,))
        w = step(w, jnp.stack([rows[i] for i in chosen]))  # finding
    return w


def train_on_graphs(w, graphs, key):
    for _ in range(10000):
        key, sub = jax.random.split(key)
        chosen = jax.random.choice(sub, len(graphs), (64,))
        w = step(w, jnp.stack([graphs[i] for i in chosen]))  # finding
    return w


def train_on_numbers(w, rows, key):
    for _ in range(10000):
        key, sub = jax.random.split(key)
        chosen = np.asarray(jax.random.choice(sub, len(rows), (64,)))
        w = step(w, jnp.stack([rows[i] for i in chosen]))
    return w


def split_once(rows, key):
    order = jax.random.permutation(key, len(rows))
    return [rows[i] for i in order]  # finding


rows = [jnp.ones(3) for _ in range(100)]
key = jax.random.key(0)
w = train(jnp.ones(3), rows, key)
w = train_on_graphs(w, Graphs(rows), key)
w = train_on_numbers(w, rows, key)
split_once(rows, key)
