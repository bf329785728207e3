# in a method that a loop calls: a function that it makes, a count that its object keeps

from dataclasses import dataclass
from functools import partial
import jax
import jax.numpy as jnp

@dataclass
class State:
    w: jax.Array
    updates: int = 0

@partial(jax.jit, static_argnums=0)
def rollout(policy, x):
    return policy(x)

@partial(jax.jit, static_argnames=("step", "name"))
def update(w, step, name="sgd"):
    return w * step

def linear(w, x):
    return w @ x

class Search:
    def __init__(self, w):
        self.w, self.calls = w, 0
        self.state = State(w)
        self.policy = partial(linear, w)

    def score(self, candidate):
        policy = partial(linear, candidate)
        return rollout(policy, self.w)  # finding

    def nested(self, candidate):
        def policy(x):
            return candidate @ x
        return rollout(policy, self.w)  # finding

    def train(self):
        self.calls += 1
        self.w = update(self.w, self.calls)  # finding
        self.state = State(update(self.state.w, step=self.state.updates), self.state.updates + 1)  # finding

    def kept(self, quick):
        self.w = update(self.w, step=self.calls % 4)
        self.w = rollout(self.policy, self.w)
        if quick:
            self.w = update(self.w, step=self.calls)

    def run(self, candidates):
        for candidate in candidates:
            self.train()
            self.kept(len(candidate) > 3)
            self.score(candidate) + self.nested(candidate)

    def once(self):
        return rollout(partial(linear, self.w), self.w)

Search(jnp.ones(3)).run([jnp.ones(3)] * 9)
Search(jnp.ones(3)).once()
