# a number that a loop anneals in a module of equinox, as a Python number and as an array

import equinox as eqx
import jax
import jax.numpy as jnp


class Policy(eqx.Module):
    w: jax.Array
    temperature: float

    def __init__(self):
        self.w = jnp.ones(3)
        self.temperature = 1.0

    def __call__(self, x):
        return jax.nn.log_softmax(self.w * x / self.temperature)


@eqx.filter_jit
def step(model, x):
    return eqx.tree_at(lambda m: m.w, model, model.w - model(x))


def train(x, steps=500):
    model = Policy()
    for i in range(steps):
        model = eqx.tree_at(lambda m: m.temperature, model, max(0.1, 1.0 - i / steps))
        model = step(model, x)  # finding
    return model


def right(x, steps=500):
    model = Policy()
    for i in range(steps):
        model = eqx.tree_at(lambda m: m.temperature, model, jnp.asarray(1.0 - i / steps))
        model = step(model, x)
    return model
