# changed through what holds the object
import functools

import jax
import jax.numpy as jnp


class Penalty:
    def __init__(self, strength):
        self.strength = strength
        self.floor = 0.0

    @functools.partial(jax.jit, static_argnums=0)
    def value(self, w):
        return self.strength * jnp.sum(jnp.abs(w)) + self.floor

    def slope(self, w):
        return jax.grad(self.value)(w)


class Path:
    def __init__(self, penalty):
        self.penalty = penalty

    def follow(self, w, strengths):
        for strength in strengths:
            w = w - 0.1 * self.penalty.slope(w)
            self.penalty.strength = strength  # finding
        return self.penalty.value(w)


print(Path(Penalty(1.0)).follow(jnp.ones(3), (1.0, 2.0)))
