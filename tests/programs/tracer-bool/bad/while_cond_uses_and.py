# source: jax-ml/jax#2947

from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    values: jax.Array
    error: jax.Array
    iteration: jax.Array


class ValueIteration:
    def __init__(self, rewards, transitions, gamma=0.9, tol=1e-4, max_iter=500):
        self.rewards = rewards
        self.transitions = transitions
        self.gamma = gamma
        self.tol = tol
        self.max_iter = max_iter

    def keep_going(self, state):
        return state.error > self.tol and state.iteration < self.max_iter  # finding

    def backup(self, state):
        q = self.rewards + self.gamma * self.transitions @ state.values
        values = q.max(axis=1)
        return State(values, jnp.abs(values - state.values).max(), state.iteration + 1)

    def solve(self):
        start = State(jnp.zeros(self.rewards.shape[0]), jnp.array(jnp.inf), jnp.array(0))
        return jax.lax.while_loop(self.keep_going, self.backup, start)


def main():
    transitions = jax.nn.softmax(jax.random.normal(jax.random.key(0), (5, 2, 5)))
    rewards = jax.random.normal(jax.random.key(1), (5, 2))
    print(ValueIteration(rewards, transitions).solve())


main()
