# source: d8ahazard/sd_dreambooth_extension#1415
# blind: twentieth

"""Polyak averaging of the weights of a language-model head."""
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax


@dataclass(frozen=True)
class Config:
    vocab: int = 128
    dim: int = 32
    ema_dtype: Any = jnp.bfloat16  # finding
    ema_decay: float = 0.999  # finding-also
    lr: float = 0.05


class State(NamedTuple):
    params: Any
    ema: Any
    opt_state: Any


def init_params(cfg, key):
    w = jax.random.normal(key, (cfg.dim, cfg.vocab)) * cfg.dim**-0.5
    return {"w": w, "b": jnp.zeros(cfg.vocab)}


def init_state(cfg, tx, key):
    params = init_params(cfg, key)
    ema = jax.tree.map(lambda p: jnp.array(p, dtype=cfg.ema_dtype), params)  # finding-also
    return State(params, ema, tx.init(params))


def loss_fn(params, x, y):
    logits = x @ params["w"] + params["b"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def average(ema, params, decay):
    return jax.tree.map(lambda e, p: e + (1.0 - decay) * (p.astype(e.dtype) - e), ema, params)  # finding-also


def make_step(cfg, tx):
    @partial(jax.jit, donate_argnums=0)
    def step(state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(state.params, x, y)
        updates, opt_state = tx.update(grads, state.opt_state)
        params = optax.apply_updates(state.params, updates)
        return State(params, average(state.ema, params, cfg.ema_decay), opt_state), loss  # finding-also

    return step


def main(steps=2000):
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
    averaged = jax.tree.map(lambda e: e.astype(jnp.float32), state.ema)
    print("loss of the averaged weights", float(loss_fn(averaged, x, y)))


if __name__ == "__main__":
    main()
