# put back at the end, by a context manager and by the method that stores it

from contextlib import contextmanager
import jax

_current = None

@contextmanager
def current(x):
    global _current
    before = _current
    _current = x
    try:
        yield
    finally:
        _current = before

@contextmanager
def lasting(x):
    global _current
    _current = x  # finding
    yield

@jax.jit
def scale(x):
    with current(x), lasting(x):
        return x * 2

class Model:
    def __init__(self, data):
        self.data = data

    def set_data(self, data):
        self.data = data

    def keep(self, data):
        self.data = data  # finding

def gains(model, candidates):
    before = model.data

    def gain(data):
        model.set_data(data)
        return model.data.sum()

    found = jax.vmap(gain)(candidates)
    model.set_data(before)
    return found

def kept(model, candidates):
    def gain(data):
        model.keep(data)
        return model.data.sum()

    return jax.vmap(gain)(candidates)

held = {}

def holding(function, key):
    def run(x):
        before = held.get(key)
        try:
            held[key] = x
            return function()
        finally:
            held[key] = before

    return run

def noting(function, key):
    def run(x):
        try:
            held[key] = x  # finding
            return function()
        finally:
            held["last"] = None

    return run

double = jax.jit(holding(lambda: held["double"] * 2, "double"))
triple = jax.jit(noting(lambda: held["triple"] * 3, "triple"))
print(double(1.0), triple(1.0))
gains(Model(None), jax.numpy.ones((3, 2))), kept(Model(None), jax.numpy.ones((3, 2)))
