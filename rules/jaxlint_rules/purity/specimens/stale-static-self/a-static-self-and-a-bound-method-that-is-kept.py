# a static self, and a bound method that is kept

from functools import partial
import jax
import jax.numpy as jnp

class Model:
    def __init__(self):
        self.params = jnp.ones(2)
        self.training = True

    def eval(self):
        self.training = False

    def fit(self, gradient):
        self.params = self.params - 0.1 * gradient

    @partial(jax.jit, static_argnums=(0,))
    def predict(self, x):
        return self.features(x) @ self.params  # finding

    def features(self, x):
        return x * 2 if self.training else x  # finding

class Trainer:
    def __init__(self, lr):
        self.lr = lr
        self._step = jax.jit(self._update)

    def set_lr(self, lr):
        self.lr = lr

    def _update(self, w, gradient):
        return w - self.lr * gradient  # finding
