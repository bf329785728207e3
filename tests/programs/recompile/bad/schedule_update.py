# blind: twentieth

"""Matrix factorisation with a decaying step size."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Config:
    users: int = 200
    items: int = 150
    rank: int = 8
    reg: float = 1e-3
    lr: float = 15.0
    half_life: float = 40.0
    steps: int = 60


def loss_fn(params, rows, cols, ratings, reg):
    u, v = params["u"][rows], params["v"][cols]
    fit = jnp.mean((jnp.sum(u * v, axis=1) - ratings) ** 2)
    return fit + reg * (jnp.mean(u**2) + jnp.mean(v**2))


def make_update(lr, reg):  # finding-also
    """One step of gradient descent."""

    def update(params, rows, cols, ratings):
        loss, grads = jax.value_and_grad(loss_fn)(params, rows, cols, ratings, reg)
        return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss  # finding-also

    return jax.jit(update, donate_argnums=0)  # finding-also


def step_size(cfg, step):
    return cfg.lr * 0.5 ** (step / cfg.half_life)


def init_params(cfg, key):
    k_u, k_v = jax.random.split(key)
    return {
        "u": 0.3 * jax.random.normal(k_u, (cfg.users, cfg.rank)),
        "v": 0.3 * jax.random.normal(k_v, (cfg.items, cfg.rank)),
    }


def sample_ratings(cfg, rng, count):
    rows = rng.integers(0, cfg.users, count).astype(np.int32)
    cols = rng.integers(0, cfg.items, count).astype(np.int32)
    ratings = np.sin(0.1 * rows) * np.cos(0.1 * cols)
    return rows, cols, ratings.astype(np.float32)


def train(cfg, params, rng):
    losses = []
    for step in range(cfg.steps):
        update = make_update(step_size(cfg, step), cfg.reg)  # finding
        params, loss = update(params, *sample_ratings(cfg, rng, 1024))
        losses.append(loss)
    return params, jnp.stack(losses)


def main():
    cfg = Config()
    _, losses = train(cfg, init_params(cfg, jax.random.key(0)), np.random.default_rng(0))
    print("first", float(losses[0]), "last", float(losses[-1]))


if __name__ == "__main__":
    main()
