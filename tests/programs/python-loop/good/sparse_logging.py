# blind: twentieth

"""Training loop that measures throughput and reads losses rarely."""
import time
from collections import deque
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass(frozen=True)
class Config:
    features: int = 16
    hidden: int = 64
    lr: float = 1e-3
    steps: int = 400
    batch: int = 64
    log_every: int = 100


def init_params(cfg, key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (cfg.features, cfg.hidden)) * cfg.features**-0.5,
        "b1": jnp.zeros(cfg.hidden),
        "w2": jax.random.normal(k2, (cfg.hidden,)) * cfg.hidden**-0.5,
    }


def predict(params, x):
    return jnp.tanh(x @ params["w1"] + params["b1"]) @ params["w2"]


def make_step(tx):
    def loss_fn(params, x, y):
        return jnp.mean((predict(params, x) - y) ** 2)

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


class Meter:
    """Keeps losses on the device until they are printed."""

    def __init__(self, window):
        self.losses = deque(maxlen=window)
        self.window = window
        self.started = time.perf_counter()

    def update(self, step, loss):
        self.losses.append(loss)
        if (step + 1) % self.window == 0:
            mean = float(np.mean(jax.device_get(list(self.losses))))
            rate = self.window / (time.perf_counter() - self.started)
            print(f"step {step + 1} loss {mean:.4f} steps per second {rate:.0f}")
            self.started = time.perf_counter()


def main():
    cfg = Config()
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2048, cfg.features)).astype(np.float32)
    y = np.sin(x).sum(axis=1)
    params = init_params(cfg, jax.random.key(0))
    tx = optax.adamw(cfg.lr)
    opt_state = tx.init(params)
    step_fn = make_step(tx)
    params, opt_state, loss = step_fn(params, opt_state, x[:cfg.batch], y[:cfg.batch])
    jax.block_until_ready(loss)
    meter = Meter(cfg.log_every)
    for step in range(cfg.steps):
        rows = rng.choice(len(x), cfg.batch, replace=False)
        params, opt_state, loss = step_fn(params, opt_state, x[rows], y[rows])
        meter.update(step, loss)


if __name__ == "__main__":
    main()
