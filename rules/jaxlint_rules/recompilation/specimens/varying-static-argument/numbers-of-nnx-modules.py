# a number of an nnx module that each epoch changes, here or in a helper; a variable, and a number that is set once
import jax
import jax.numpy as jnp
from flax import nnx


class Gate(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(4, 4, rngs=rngs)
        self.temperature = 1.0
        self.scale = nnx.Variable(jnp.array(1.0))

    def __call__(self, x):
        return jax.nn.softmax(self.linear(x) / self.temperature) * self.scale[...]


@nnx.jit
def step(model, x):
    return jnp.mean(model(x))


def anneal(model, epoch, rate=0.95):
    model.temperature = max(0.1, rate**epoch)


def rescale(model, epoch):
    model.scale.value = 0.95**epoch


def by_helper(x):
    model = Gate(nnx.Rngs(0))
    for epoch in range(20):
        anneal(model, epoch)
        for _ in range(50):
            out = step(model, x)  # finding
    return out


def in_place(x):
    model = Gate(nnx.Rngs(0))
    for epoch in range(20):
        model.temperature = 1.0 / (1 + epoch)
        out = step(model, x)  # finding
    return out


def in_a_variable(x):
    model = Gate(nnx.Rngs(0))
    for epoch in range(20):
        rescale(model, epoch)
        out = step(model, x)
    return out


def set_once(x, runs):
    model = Gate(nnx.Rngs(0))
    model.temperature = 0.5 * len(runs)
    for epoch in range(20):
        model.temperature = 0.5
        out = step(model, x)
    return out
