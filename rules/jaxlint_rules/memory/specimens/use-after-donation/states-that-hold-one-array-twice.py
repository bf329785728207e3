# a state whose target is its parameters, in an object and in a dict; copies, and states that are not donated
from functools import partial
from typing import Any

import flax.struct
import jax
import jax.numpy as jnp


@flax.struct.dataclass
class Agent:
    params: Any
    target: Any
    step: Any


def init(key):
    return {"w": jax.random.normal(key, (4, 4)), "b": jnp.zeros(4)}


def create(key):
    params = init(key)
    return Agent(params=params, target=params, step=jnp.zeros((), jnp.int32))


def create_apart(key):
    params = init(key)
    return Agent(params=params, target=jax.tree.map(jnp.copy, params), step=jnp.zeros((), jnp.int32))


@partial(jax.jit, donate_argnums=0)
def update(agent, x):
    params = jax.tree.map(lambda p: p - 0.1 * x.mean(), agent.params)
    return agent.replace(params=params, step=agent.step + 1)


@partial(jax.jit, donate_argnums=0)
def update_dict(state, x):
    return {"params": state["params"] - 0.1 * x.mean(), "ema": 0.9 * state["ema"] + 0.1 * state["params"]}


@jax.jit
def update_kept(agent, x):
    return agent.replace(step=agent.step + 1)


def main(x):
    agent = create(jax.random.key(0))
    for _ in range(3):
        agent = update(agent, x)  # finding
    other = create_apart(jax.random.key(0))
    for _ in range(3):
        other = update(other, x)
    kept = create(jax.random.key(1))
    kept = update_kept(kept, x)
    w = jnp.ones(4)
    state = {"params": w, "ema": w}
    state = update_dict(state, x)  # finding
    return agent, other, kept, state


main(jnp.ones(3))
