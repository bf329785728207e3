# branches that a table holds, and two that differ though of the first nothing is known

import jax
import jax.numpy as jnp
from jax import lax

def hold(state):
    return state["pos"]

def seek(state):
    return state["pos"] + 0.1, state["goal"]

def drift(state):
    return state["pos"] * 0.9

MODES = {"hold": hold, "seek": seek, "drift": drift}
CALM = {"hold": hold, "drift": drift}

class Agent:
    def __init__(self):
        self.modes = {"hold": hold, "seek": seek, "drift": drift}
        self.order = ("hold", "seek", "drift")

    def act(self, mode, state):
        return lax.switch(mode, [self.modes[name] for name in self.order], state)  # finding

@jax.jit
def control(mode, state):
    a = lax.switch(mode, list(MODES.values()), state)  # finding
    b = lax.switch(mode, [*MODES.values()], state)  # finding
    c = lax.switch(mode, tuple(CALM.values()), state)
    return a, b, c

act = jax.jit(Agent().act)
