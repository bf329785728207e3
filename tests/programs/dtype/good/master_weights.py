# blind: twentieth

"""Low-precision forward pass with full-precision weights and averages."""
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax


@dataclass(frozen=True)
class Config:
    vocab: int = 64
    dim: int = 32
    compute_dtype: Any = jnp.bfloat16
    ema_decay: float = 0.999
    lr: float = 0.2


class State(NamedTuple):
    params: Any
    ema: Any
    opt_state: Any


def init_state(cfg, tx, key):
    params = {
        "w": jax.random.normal(key, (cfg.dim, cfg.vocab)) * cfg.dim**-0.5,
        "b": jnp.zeros(cfg.vocab),
    }
    return State(params, jax.tree.map(jnp.copy, params), tx.init(params))


def loss_fn(params, x, y, dtype):
    low = jax.tree.map(lambda p: p.astype(dtype), params)
    logits = x.astype(dtype) @ low["w"] + low["b"]
    logits = logits.astype(jnp.float32)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def average(ema, params, decay):
    return jax.tree.map(lambda e, p: e + (1.0 - decay) * (p - e), ema, params)


def make_step(cfg, tx):
    @partial(jax.jit, donate_argnums=0)
    def step(state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(state.params, x, y, cfg.compute_dtype)
        updates, opt_state = tx.update(grads, state.opt_state)
        params = optax.apply_updates(state.params, updates)
        return State(params, average(state.ema, params, cfg.ema_decay), opt_state), loss

    return step


def main(steps=1500):
    cfg = Config()
    tx = optax.sgd(cfg.lr)
    k_state, k_x, k_teacher = jax.random.split(jax.random.key(0), 3)
    state = init_state(cfg, tx, k_state)
    x = jax.random.normal(k_x, (256, cfg.dim))
    y = jnp.argmax(x @ jax.random.normal(k_teacher, (cfg.dim, cfg.vocab)), axis=-1)
    step = make_step(cfg, tx)
    for _ in range(steps):
        state, loss = step(state, x, y)
    print("loss", float(loss))
    print("loss of the average", float(loss_fn(state.ema, x, y, cfg.compute_dtype)))


if __name__ == "__main__":
    main()
