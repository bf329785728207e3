# a list keeps parts of each state, which donation would delete: advice without a fix
import jax
import jax.numpy as jnp
import optax
from typing import NamedTuple

class State(NamedTuple):
    theta: jax.Array
    opt: object

class Outer(NamedTuple):
    inner: State
    eta: jax.Array

tx = optax.adam(1e-3)

def loss(p, x):
    return jnp.mean((x @ p) ** 2)

@jax.jit  # finding
def step(state: State, x) -> State:
    g = jax.grad(loss)(state.theta, x)
    u, o = tx.update(g, state.opt)
    return State(optax.apply_updates(state.theta, u), o)

def run(state, xs):
    thetas = []
    for x in xs:
        state = step(state, x)
        thetas.append(state.theta)
    return state, thetas

w = jnp.zeros((2000, 2000))
run(State(w, tx.init(w)), jnp.ones((1000, 8, 2000)))
