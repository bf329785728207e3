# blind: twentieth

"""Yield prediction with several outputs or one, always kept as columns."""
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass(frozen=True)
class Config:
    width: int = 32
    depth: int = 2
    targets: int = 1
    lr: float = 3e-3
    steps: int = 150
    batch: int = 64


def load_table(cfg, rows=512, seed=0):
    rng = np.random.default_rng(seed)
    feats = rng.standard_normal((rows, 5)).astype(np.float32)
    mix = rng.standard_normal((5, cfg.targets)).astype(np.float32)
    return np.concatenate([feats, feats @ mix], axis=1)


def split_table(cfg, table):
    return table[:, :-cfg.targets], table[:, -cfg.targets:]


class Regressor(eqx.Module):
    mlp: eqx.nn.MLP
    scale: jax.Array

    def __init__(self, cfg, features, scale, key):
        self.mlp = eqx.nn.MLP(features, cfg.targets, cfg.width, cfg.depth, key=key)
        self.scale = jnp.asarray(scale)

    def __call__(self, x):
        return self.mlp(x) * jax.lax.stop_gradient(self.scale)


def loss_fn(model, x, y):
    pred = jax.vmap(model)(x)
    return jnp.mean(((pred - y) / jax.lax.stop_gradient(model.scale)) ** 2)


def train(cfg, model, x, y):
    tx = optax.adam(cfg.lr)
    opt_state = tx.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_jit(donate="all-except-first")
    def step(batch, model, opt_state):
        loss, grads = eqx.filter_value_and_grad(loss_fn)(model, *batch)
        updates, opt_state = tx.update(grads, opt_state)
        return eqx.apply_updates(model, updates), opt_state, loss

    rng = np.random.default_rng(1)
    for _ in range(cfg.steps):
        rows = rng.choice(len(x), cfg.batch, replace=False)
        model, opt_state, loss = step((x[rows], y[rows]), model, opt_state)
    return model, loss


def main():
    cfg = Config()
    x, y = split_table(cfg, load_table(cfg))
    model = Regressor(cfg, x.shape[1], y.std(axis=0), jax.random.key(0))
    model, loss = train(cfg, model, x, y)
    pred = np.asarray(jax.vmap(model)(x))
    print("loss", float(loss), "correlation", np.corrcoef(pred[:, 0], y[:, 0])[0, 1])


if __name__ == "__main__":
    main()
