# numbers that change once, or now and then, or are leaves

import equinox as eqx
import flax.struct
import jax
import jax.numpy as jnp


@flax.struct.dataclass
class Anneal:
    w: jax.Array
    temperature: float = flax.struct.field(pytree_node=False, default=1.0)
    step: int = 0


@jax.jit
def sweep(s):
    return s.replace(w=s.w / s.temperature)


def two_phases(s):
    for i in range(1000):
        s = sweep(s)
        if i == 500:
            s = s.replace(temperature=s.temperature * 0.1)
    return s


def warmed_up(s):
    for _ in range(1000):
        s = sweep(s)
        s = s.replace(temperature=0.5)
    return s


def counted(s):
    for _ in range(1000):
        s = sweep(s)
        s = s.replace(step=s.step + 1)
    return s


class State(eqx.Module):
    x: jax.Array
    step: jax.Array
    order: int = 2


@eqx.filter_jit
def advance(state):
    return State(state.x**state.order, state.step + 1, state.order)


def run(x):
    state = State(x, jnp.asarray(0))
    for _ in range(100):
        state = advance(state)
    return state


two_phases(Anneal(jnp.ones(3)))
warmed_up(Anneal(jnp.ones(3)))
counted(Anneal(jnp.ones(3)))
run(jnp.ones(3))
