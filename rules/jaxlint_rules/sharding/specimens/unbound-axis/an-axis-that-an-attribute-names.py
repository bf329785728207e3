# an axis that an attribute names, bound where the setting asks for it

import jax
import jax.numpy as jnp


class Agent:
    batch_axis = "batch_axis"
    device_axis = "device_axis"

    def __init__(self, devices):
        self.devices = devices

    def train(self, states):
        step = self.step
        if self.devices > 1:
            step = jax.pmap(step, axis_name=self.device_axis)
        else:
            step = jax.jit(step)
        return step(states)

    def step(self, state):
        return normalised(state, self.devices)


def normalised(values, devices):
    mean = jnp.mean(values)
    if devices > 1:
        mean = jax.lax.pmean(mean, Agent.device_axis)
    return values - mean
