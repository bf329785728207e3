# what a method keeps of its argument

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

@partial(jax.jit, donate_argnums=0)
def step(params, x):
    return jax.tree.map(lambda p: p - 0.1 * x.mean(), params)

class Best:
    def __init__(self):
        self.params = None
        self.copied = None

    def remember(self, params):
        self.params = params
        self.copied = jax.tree.map(jnp.copy, params)

def fit(params, xs):
    best = Best()
    for x in xs:
        params = step(params, x)
        best.remember(params)
    params = step(params, xs[0])
    print(best.copied["w"].sum())
    return best.params["w"].sum()  # finding

class Averaged(NamedTuple):
    params: dict
    anchor: dict

def begin(params):
    return Averaged(params, params)

def apart(params):
    return Averaged(params, jax.tree.map(jnp.copy, params))

@partial(jax.jit, donate_argnums=0)
def average(state, x):
    return Averaged(jax.tree.map(lambda p: p * x, state.params), state.anchor)

state = begin({"w": jnp.ones(3)})
state = average(state, 2.0)  # finding
other = apart({"w": jnp.ones(3)})
other = average(other, 2.0)
fit({"w": jnp.ones(3)}, [jnp.ones(2)] * 3)
