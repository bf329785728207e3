# a policy of nnx that is asked in most steps; models that every hundredth step or a picture runs

import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from flax import nnx


class Policy(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(8, 64, rngs=rngs)
        self.second = nnx.Linear(64, 4, rngs=rngs)

    def __call__(self, x):
        return self.second(nnx.relu(self.first(x)))


def show_values(policy, states):
    for state in states:
        plt.plot(policy(state[None])[0])


def main(env, states):
    policy = Policy(nnx.Rngs(0))
    compiled = nnx.jit(lambda policy, x: policy(x))
    state = env.reset()
    for step in range(100_000):
        if np.random.rand() < 0.1:
            action = env.sample()
        else:
            action = int(jnp.argmax(policy(state[None])))  # finding
        state = env.step(action)
        if step % 1000 == 0:
            print(step, policy(state[None]).max())
    for step in range(100_000):
        state = env.step(int(jnp.argmax(compiled(policy, state[None]))))
    for number in range(100_000):
        state = env.step(env.sample())
        if number % 1000 == 0:
            print(policy(state[None]).max())


class Agent:
    def __init__(self):
        self.policy = Policy(nnx.Rngs(0))
        self.explored = 0.1

    def act(self, env, state):
        if np.random.rand() < self.explored:
            return env.sample()
        else:
            return int(jnp.argmax(self.policy(state[None])))  # finding

    def report(self, step, state):
        if step % 1000 == 0:
            print(self.policy(state[None]).max())


def play(env, agent):
    state = env.reset()
    for step in range(100_000):
        state = env.step(agent.act(env, state))
    for step in range(100_000):
        agent.report(step, state)


main(open_env(), load_states())
play(open_env(), Agent())
