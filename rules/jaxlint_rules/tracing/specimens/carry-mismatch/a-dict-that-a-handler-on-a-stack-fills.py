# a dict that a handler on a stack fills, in a call that is repeated

import jax
import jax.numpy as jnp

STACK = []


class Recorder:
    def __init__(self, function):
        self.function = function

    def __enter__(self):
        STACK.append(self)
        self.values = {}
        return self

    def __exit__(self, *_):
        STACK.pop()

    def note(self, name, value):
        self.values[name] = value

    def values_of(self, z):
        with self:
            self.function(z)
        return self.values


def site(name, value):
    for handler in reversed(STACK):
        handler.note(name, value)
    return value


def model(z):
    return site("kappa", 2.0 * z) + site("scale", 1.0 + z)


@jax.jit
def run(z):
    def first(z):
        return model(z)

    def again(z):
        return model(z)

    def body(state):
        z, _ = state
        return z + 1.0, Recorder(again).values_of(z + 1.0)

    return jax.lax.while_loop(lambda state: state[0] < 10.0, body, (z, Recorder(first).values_of(z)))


run(jnp.float32(0.0))
