# blind: sixteenth

"""Training with an exponential average of the weights that starts as a copy; the state is donated."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax


class State(NamedTuple):
    params: dict
    ema: dict
    opt_state: optax.OptState


optimizer = optax.adamw(1e-3)


def init(key):
    k1, k2 = jax.random.split(key)
    params = {
        "w1": jax.random.normal(k1, (16, 64)) * 0.1,
        "w2": jax.random.normal(k2, (64, 1)) * 0.1,
    }
    return State(params, jax.tree.map(lambda x: x.copy(), params), optimizer.init(params))


def predict(params, x):
    return (jax.nn.silu(x @ params["w1"]) @ params["w2"])[:, 0]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


@partial(jax.jit, donate_argnums=0)
def train_step(state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(state.params, x, y)
    updates, opt_state = optimizer.update(grads, state.opt_state, state.params)
    params = optax.apply_updates(state.params, updates)
    ema = jax.tree.map(lambda e, p: 0.99 * e + 0.01 * p, state.ema, params)
    return State(params, ema, opt_state), loss


@jax.jit
def evaluate(params, x, y):
    return loss_fn(params, x, y)


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(768, 16)).astype(np.float32)
    y = np.sin(x[:, 0] + x[:, 1]).astype(np.float32)
    state = init(jax.random.PRNGKey(0))
    best, best_ema = np.inf, None
    for epoch in range(10):
        for i in range(0, 512, 64):
            state, loss = train_step(state, x[i : i + 64], y[i : i + 64])
        val = float(evaluate(state.ema, x[512:], y[512:]))
        if val < best:
            best, best_ema = val, jax.device_get(state.ema)
    np.savez("/tmp/ema.npz", **best_ema)
    print(best)


if __name__ == "__main__":
    main()
