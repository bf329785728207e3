# blind: twentieth

"""Matrix factorisation trained in stages, one compiled update per stage."""
from dataclasses import dataclass
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Config:
    users: int = 200
    items: int = 150
    rank: int = 8
    reg: float = 1e-3
    steps: int = 300


@dataclass(frozen=True)
class Stage:
    until: float
    train_items: bool
    lr: float


STAGES = (
    Stage(until=0.3, train_items=False, lr=20.0),
    Stage(until=1.0, train_items=True, lr=10.0),
)


def loss_fn(params, rows, cols, ratings, reg):
    u, v = params["u"][rows], params["v"][cols]
    fit = jnp.mean((jnp.sum(u * v, axis=1) - ratings) ** 2)
    return fit + reg * (jnp.mean(u**2) + jnp.mean(v**2))


@lru_cache(maxsize=None)
def make_update(stage, reg):
    def update(params, rows, cols, ratings):
        loss, grads = jax.value_and_grad(loss_fn)(params, rows, cols, ratings, reg)
        new = {"u": params["u"] - stage.lr * grads["u"], "v": params["v"]}
        if stage.train_items:
            new["v"] = params["v"] - stage.lr * grads["v"]
        return new, loss

    return jax.jit(update, donate_argnums=0)


def stage_at(progress):
    return next(stage for stage in STAGES if progress < stage.until)


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
        update = make_update(stage_at(step / cfg.steps), cfg.reg)
        params, loss = update(params, *sample_ratings(cfg, rng, 1024))
        losses.append(loss)
    return params, jnp.stack(losses)


def main():
    cfg = Config()
    _, losses = train(cfg, init_params(cfg, jax.random.key(0)), np.random.default_rng(0))
    print("first", float(losses[0]), "last", float(losses[-1]))
    print("updates compiled", make_update.cache_info().misses)


if __name__ == "__main__":
    main()
