# a call of the object itself, between which the program rebinds what it reads

from functools import partial

import jax
import jax.numpy as jnp


class Controller:
    def __init__(self, gain):
        self.gain = gain
        self.target = 0.0

    @partial(jax.jit, static_argnums=0)
    def __call__(self, y):
        return self.gain * (self.target - y)  # finding


def follow(path, y):
    controller = Controller(0.5)
    for waypoint in path:
        controller.target = waypoint
        y = y + controller(y)
    return y


def at_once(y):
    controller = Controller(0.5)
    controller.target = 2.0
    for _ in range(10):
        y = y + controller(y)
    return y


follow([1.0, 2.0], jnp.zeros(()))
at_once(jnp.zeros(()))
