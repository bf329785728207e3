# source: liesel-devs/liesel#272
# blind: seventeenth

"""Polyak averaging in a donated state."""
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax


class State(NamedTuple):
    params: Any
    average: Any
    opt_state: Any


optimizer = optax.sgd(0.05, momentum=0.9)


def init_state(key, din, dout):
    params = {"w": 0.1 * jax.random.normal(key, (din, dout)), "b": jnp.zeros(dout)}
    return State(params, params, optimizer.init(params))  # finding-also


def loss_fn(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


@jax.jit
def evaluate(state, x, y):
    return loss_fn(state.average, x, y)


def train_step(state, x, y):
    grads = jax.grad(loss_fn)(state.params, x, y)
    updates, opt_state = optimizer.update(grads, state.opt_state)
    params = optax.apply_updates(state.params, updates)
    average = jax.tree.map(lambda a, p: 0.99 * a + 0.01 * p, state.average, params)
    return State(params, average, opt_state)


train_step = jax.jit(train_step, donate_argnums=0)


def main():
    kp, kx, ky = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(kx, (64, 8))
    y = jax.random.normal(ky, (64, 2))
    state = init_state(kp, 8, 2)
    for _ in range(20):
        state = train_step(state, x, y)  # finding
    print(evaluate(state, x, y))


if __name__ == "__main__":
    main()
