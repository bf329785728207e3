# attributes and fields that a method, or `replace`, makes one buffer

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from flax import struct

@jax.jit
def copied(params):
    return jax.tree.map(jnp.copy, params)

def sgd(params, x):
    return jax.tree.map(lambda p: p - 0.1 * x.mean(), params)

step = jax.jit(sgd, donate_argnums=0)

@dataclass
class Agent:
    params: Any
    target: Any = None

    def refresh(self):
        self.target = self.params

    def refresh_with_a_copy(self):
        self.target = copied(self.params)

def blended(params, target):
    return jax.tree.map(lambda p, t: 0.9 * p + 0.1 * t, params, target)

blend = jax.jit(blended, donate_argnums=0)

def learn(xs):
    agent = Agent({"w": jnp.ones(3)})
    for i, x in enumerate(xs):
        if i % 10 == 0:
            agent.refresh()
        agent.params = blend(agent.params, agent.target)  # finding
    return agent

def learn_from_copies(xs):
    agent = Agent({"w": jnp.ones(3)})
    for i, x in enumerate(xs):
        if i % 10 == 0:
            agent.refresh_with_a_copy()
        agent.params = blend(agent.params, agent.target)
    return agent

@dataclass
class Best:
    loss: float = 1e9
    params: Any = None

    def offer(self, loss, params):
        if loss < self.loss:
            self.loss = loss
            self.params = params

    def offer_early(self, loss, params):
        if loss >= self.loss:
            return
        self.params = params

def fit(params, xs):
    best = Best()
    for x in xs:
        params = step(params, x)
        best.offer(float(x.sum()), params)
    return best.params["w"].sum()  # finding

def fit_early(params, xs):
    early = Best()
    for x in xs:
        params = step(params, x)
        early.offer_early(float(x.sum()), params)
    return early.params["w"].sum()  # finding

@struct.dataclass
class State:
    params: Any
    average: Any

@jax.jit
def _advance(state, x):
    return state.replace(params=sgd(state.params, x), average=blended(state.average, state.params))

advance = jax.jit(_advance, donate_argnums=(0,))

def averaged(xs):
    state = State(params={"w": jnp.ones(3)}, average={"w": jnp.zeros(3)})
    for i, x in enumerate(xs):
        if i == 10:
            state = state.replace(average=state.params)
        state = advance(state, x)  # finding
    return state

def averaged_from_a_copy(xs):
    state = State(params={"w": jnp.ones(3)}, average={"w": jnp.zeros(3)})
    for i, x in enumerate(xs):
        if i == 10:
            state = state.replace(average=copied(state.params))
        state = advance(state, x)
    return state

class Learner:
    def __init__(self, key):
        self.online = {"w": jax.random.normal(key, (3,))}
        self.target = None
        self.update = jax.jit(sgd, donate_argnums=0)

    def sync(self):
        self.target = self.online

    def learn(self, x):
        goal = x @ self.target["w"]  # finding
        self.online = self.update(self.online, goal)

class Meter:
    def begin(self, totals, counts):
        totals["loss"] = counts["loss"] = jnp.zeros(())
        self.counts = counts

class Apart(Learner):
    def sync(self):
        self.target = jax.tree.map(jnp.copy, self.online)

Meter().begin({}, {})
xs = [jnp.ones(3)] * 20
learn(xs)
learn_from_copies(xs)
fit({"w": jnp.ones(3)}, xs)
fit_early({"w": jnp.ones(3)}, xs)
averaged(xs)
averaged_from_a_copy(xs)
