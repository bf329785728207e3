# blind: tenth

import jax
import jax.numpy as jnp


class Fitter:
    def __init__(self, data):
        self.data = data

    def gradient(self, w):
        g = jax.jit(jax.grad(lambda w: jnp.mean((self.data @ w - 1.0) ** 2)))  # finding
        return g(w)

    def run(self, steps):
        w = jnp.zeros(self.data.shape[1])
        for _ in range(steps):
            w = w - 0.1 * self.gradient(w)
        return w


print(Fitter(jnp.ones((20, 3))).run(5))
