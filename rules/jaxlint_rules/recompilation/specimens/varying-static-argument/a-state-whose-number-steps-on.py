# a state whose number steps on: outside, in a helper, in the jitted function itself

import dataclasses

import equinox as eqx
import flax.struct
import jax
import jax.numpy as jnp


class State(eqx.Module):
    x: jax.Array
    step: int = 0


@eqx.filter_jit
def advance(state):
    return State(state.x * 0.5, state.step + 1)


@eqx.filter_jit
def halve(state):
    return eqx.tree_at(lambda s: s.x, state, state.x * 0.5)


def run(x, n):
    state = State(x)
    for _ in range(n):
        state = advance(state)  # finding
    for _ in range(n):
        state = halve(state)  # finding
        state = eqx.tree_at(lambda s: s.step, state, replace=state.step + 1)
    return state


@flax.struct.dataclass
class Anneal:
    w: jax.Array
    temperature: float = flax.struct.field(pytree_node=False, default=1.0)


def cool(s, rate):
    return s.replace(temperature=s.temperature * rate)


@jax.jit
def sweep(s):
    return s.replace(w=s.w / s.temperature)


def anneal(w):
    s = Anneal(w)
    for _ in range(1000):
        s = sweep(s)  # finding
        s = cool(s, 0.99)
    return s


def advance_clock(s, n, dt):
    for _ in range(n):
        s = sweep(s)  # finding
        s = dataclasses.replace(s, temperature=s.temperature + dt)
    return s


run(jnp.ones(3), 100)
anneal(jnp.ones(3))
advance_clock(Anneal(jnp.ones(3)), 10, 0.1)
