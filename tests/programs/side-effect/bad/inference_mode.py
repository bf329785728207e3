# blind: twentieth

"""Molecule property network with dropout, equinox."""
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass(frozen=True)
class Config:
    features: int = 12
    width: int = 64
    rate: float = 0.4
    steps: int = 200
    batch: int = 64


class Net(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear
    head: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, cfg, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.first = eqx.nn.Linear(cfg.features, cfg.width, key=k1)
        self.second = eqx.nn.Linear(cfg.width, cfg.width, key=k2)
        self.head = eqx.nn.Linear(cfg.width, "scalar", key=k3)
        self.dropout = eqx.nn.Dropout(cfg.rate)

    def __call__(self, x, key):
        k1, k2 = jax.random.split(key)
        x = self.dropout(jax.nn.relu(self.first(x)), key=k1)
        x = self.dropout(jax.nn.relu(self.second(x)), key=k2)
        return self.head(x)


def predict(model, x, key):
    return jax.vmap(model)(x, jax.random.split(key, x.shape[0]))


def loss_fn(model, x, y, key):
    return jnp.mean((predict(model, x, key) - y) ** 2)


@eqx.filter_jit
def evaluate(model, x, y, key):
    eqx.nn.inference_mode(model)  # finding
    return jnp.sqrt(loss_fn(model, x, y, key))  # finding-also


def train(cfg, model, x, y, key):
    tx = optax.adam(3e-3)
    opt_state = tx.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_jit(donate="all-except-first")
    def step(batch, model, opt_state):
        loss, grads = eqx.filter_value_and_grad(loss_fn)(model, *batch)
        updates, opt_state = tx.update(grads, opt_state)
        return eqx.apply_updates(model, updates), opt_state, loss

    rng = np.random.default_rng(0)
    for _ in range(cfg.steps):
        key, sub = jax.random.split(key)
        rows = rng.choice(len(x), cfg.batch, replace=False)
        model, opt_state, loss = step((x[rows], y[rows], sub), model, opt_state)
    return model, loss


def main():
    cfg = Config()
    k_model, k_train, k_eval = jax.random.split(jax.random.key(0), 3)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((512, cfg.features)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] * x[:, 2]).astype(np.float32)
    model, loss = train(cfg, Net(cfg, k_model), x, y, k_train)
    print("train loss", float(loss), "rmse", float(evaluate(model, x, y, k_eval)))


if __name__ == "__main__":
    main()
