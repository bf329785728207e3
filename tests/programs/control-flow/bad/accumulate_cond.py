# blind: twentieth

"""Gradient accumulation with compact accumulators."""
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax import lax


@dataclass(frozen=True)
class Config:
    dim: int = 16
    acc_dtype: Any = jnp.bfloat16  # finding-also
    accumulate: int = 4
    lr: float = 0.05


class State(NamedTuple):
    params: Any
    opt_state: Any
    acc: Any
    count: jax.Array


def init_state(cfg, tx, key):
    w = jax.random.normal(key, (cfg.dim, 1)) * cfg.dim**-0.5
    params = {"w": w, "b": jnp.zeros(1)}
    acc = jax.tree.map(lambda p: jnp.zeros(p.shape, cfg.acc_dtype), params)  # finding-also
    return State(params, tx.init(params), acc, jnp.zeros((), jnp.int32))


def loss_fn(params, x, y):
    pred = x @ params["w"] + params["b"]
    return jnp.mean((pred - y) ** 2)


def make_step(cfg, tx):
    def apply(state):
        grads = jax.tree.map(
            lambda a, p: a.astype(p.dtype) / cfg.accumulate, state.acc, state.params
        )
        updates, opt_state = tx.update(grads, state.opt_state, state.params)
        params = optax.apply_updates(state.params, updates)
        return State(
            params,
            opt_state,
            jax.tree.map(jnp.zeros_like, params),  # finding
            jnp.zeros_like(state.count),
        )

    @partial(jax.jit, donate_argnums=0)
    def step(state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(state.params, x, y)
        acc = jax.tree.map(lambda a, g: a + g.astype(a.dtype), state.acc, grads)
        state = state._replace(acc=acc, count=state.count + 1)
        full = state.count == cfg.accumulate
        return lax.cond(full, apply, lambda s: s, state), loss  # finding-also

    return step


def main(steps=40):
    cfg = Config()
    tx = optax.sgd(cfg.lr)
    key, k_init, k_true = jax.random.split(jax.random.key(0), 3)
    state = init_state(cfg, tx, k_init)
    true_w = jax.random.normal(k_true, (cfg.dim, 1))
    step = make_step(cfg, tx)
    for _ in range(steps):
        key, sub = jax.random.split(key)
        x = jax.random.normal(sub, (32, cfg.dim))
        state, loss = step(state, x, x @ true_w)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
