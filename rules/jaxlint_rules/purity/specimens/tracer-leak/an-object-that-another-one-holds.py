# an object that another one holds

import jax
import jax.numpy as jnp

class Norm:
    def __init__(self):
        self.mean = jnp.zeros(3)

    def __call__(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)  # finding
        return x - self.mean

class Scratch:
    def put(self, x):
        self.last = x
        return x

class Policy:
    def __init__(self):
        self.norm = Norm()
        self.act = jax.jit(lambda w, x: self.norm(x) @ w)
        self.score = jax.jit(self._score)

    def _score(self, x):
        return Scratch().put(x).sum()

policy = Policy()
policy.act(jnp.ones(3), jnp.ones((4, 3)))
policy.score(jnp.ones(3))
