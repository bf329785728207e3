# new states that are returned, tested, or renamed, and old ones that are wanted
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Buffer(NamedTuple):
    data: jax.Array
    position: jax.Array


@jax.jit
def push(buffer, item):
    data = buffer.data.at[buffer.position].set(item)
    position = (buffer.position + 1) % 100
    return buffer._replace(data=data, position=position)


@jax.jit
def step(state, x):
    y, new_state = x + state, state + 1
    state = new_state
    return y, state


@jax.jit
def peek(state, x):
    y, _ = x + state, state + 1
    next_value = state * x
    return y + next_value, state


def loss(params, x):
    return jnp.mean((x @ params) ** 2)


@jax.jit
def outer(params, x):
    fast = params
    for _ in range(3):
        fast = jax.tree.map(lambda p, g: p - 0.1 * g, fast, jax.grad(loss)(fast, x))
    return loss(params, x) + loss(fast, x)


def search(state, x):
    new_state = state + x
    if new_state.sum() > 0:
        return x, state
    return x, state


def total(state, x):
    reward, next_state = x.sum(), state + x
    return reward


def targets(position, grid):
    return position[0] > 0, position + 1, grid[position[0]]


def interact(state):
    position, target, item = jax.vmap(targets, (0, None))(state.position, state.data)
    return state.replace(data=state.data.at[target].set(item))
