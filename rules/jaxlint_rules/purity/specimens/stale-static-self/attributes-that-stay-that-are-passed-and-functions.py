# attributes that stay, that are passed, and functions that are made anew

from functools import partial
import jax

class Model:
    def __init__(self, lr):
        self.lr = lr
        self.steps = 0
        self.params = None
        self.setup()

    def setup(self):
        self.width = 3

    def load(self, params):
        self.params = params

    def count(self):
        self.steps += 1

    @partial(jax.jit, static_argnums=0)
    def _step(self, w, gradient):
        return w - self.lr * gradient * self.width, self.params

    def step(self, w, gradient):
        self.steps += 1
        return self._step(w, gradient)

class Keyed:
    def __init__(self, rate):
        self.rate = rate

    def __hash__(self):
        return hash(self.rate)

    def __eq__(self, other):
        return self.rate == other.rate

    def change(self, rate):
        self.rate = rate

    @partial(jax.jit, static_argnums=0)
    def scale(self, x):
        return x * self.rate

class Renewed:
    def __init__(self, rate):
        self.change(rate)

    def change(self, rate):
        self.rate = rate
        self.scale = jax.jit(self._scale)

    def once(self, x):
        return jax.jit(self._other)(x)

    def forget(self, rate):
        self.rate = rate
        self.scale = None

    def _other(self, x):
        return x * self.rate

    def _scale(self, x):
        return x * self.rate
