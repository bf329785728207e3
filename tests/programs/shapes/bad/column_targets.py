# source: vwxyzjn/cleanrl#379
# blind: twentieth

"""House-price regression with a small equinox network."""
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
    lr: float = 3e-3
    steps: int = 150
    batch: int = 64


def load_table(rows=512, seed=0):
    rng = np.random.default_rng(seed)
    feats = rng.standard_normal((rows, 5)).astype(np.float32)
    price = feats @ np.array([1.0, -2.0, 0.5, 0.0, 3.0], np.float32)
    return np.concatenate([feats, price[:, None]], axis=1)


class Regressor(eqx.Module):
    mlp: eqx.nn.MLP

    def __init__(self, cfg, features, key):
        self.mlp = eqx.nn.MLP(features, "scalar", cfg.width, cfg.depth, key=key)  # finding-also

    def __call__(self, x):
        return self.mlp(x)


def split_table(table):
    return table[:, :-1], table[:, -1:]  # finding-also


def loss_fn(model, x, y):
    pred = jax.vmap(model)(x)  # finding-also
    return jnp.mean(optax.huber_loss(pred, y))  # finding


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
    x, y = split_table(load_table())
    model = Regressor(cfg, x.shape[1], jax.random.key(0))
    model, loss = train(cfg, model, x, y)
    corr = np.corrcoef(np.asarray(jax.vmap(model)(x)), y[:, 0])[0, 1]
    print("train loss", float(loss), "correlation", corr)


if __name__ == "__main__":
    main()
