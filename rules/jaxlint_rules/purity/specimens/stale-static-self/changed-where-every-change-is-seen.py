# changed where each change is seen: set before the first call, a new object for each stage, compiled again
import functools

import jax
import jax.numpy as jnp


class Window:
    def __init__(self, size):
        self.size = size

    @functools.partial(jax.jit, static_argnums=0)
    def smooth(self, x):
        return x / self.size


class Stage:
    def __init__(self, window):
        self.window = window

    def run(self, x):
        self.window.size = 4
        return self.window.smooth(x) + self.window.smooth(2 * x)


class Scale:
    def __init__(self, factor):
        self.factor = factor

    @functools.partial(jax.jit, static_argnums=0)
    def apply(self, x):
        return x * self.factor


def sweep(x, factors):
    out = []
    for factor in factors:
        scale = Scale(1.0)
        scale.factor = factor
        out.append(use(scale, x))
    return out


def use(scale, x):
    return scale.apply(x)


class Gate:
    def __init__(self, level):
        self.level = level

    @functools.partial(jax.jit, static_argnums=0)
    def open(self, x):
        return x > self.level


def raised(gate, x, levels):
    for level in levels:
        gate.level = level
        x = gate.open(x)
        gate.open.clear_cache()
    return x


class Counter:
    def __init__(self, base):
        self.base = base
        self.seen = 0

    @functools.partial(jax.jit, static_argnums=0)
    def count(self, x):
        return x + self.base


class Meter:
    def __init__(self, counter):
        self.counter = counter

    def measure(self, xs):
        for x in xs:
            self.counter.count(x)
            self.counter.seen += 1


start = jnp.ones(3)
print(Stage(Window(2)).run(start), sweep(start, (1.0, 2.0)), raised(Gate(0.0), start, (1.0, 2.0)))
Meter(Counter(1.0)).measure([start])
