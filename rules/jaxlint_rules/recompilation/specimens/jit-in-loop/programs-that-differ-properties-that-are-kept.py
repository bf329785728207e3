# programs that differ, properties that are kept

import functools
import jax
import jax.numpy as jnp

def power(x, n):
    @jax.jit
    def run(x):
        for _ in range(n):
            x = jnp.sin(x)
        return x

    return run(x)

def powers(x):
    return [power(x, n) for n in range(5)]

class Surrogate:
    def __init__(self, coef):
        self.coef = coef

    def poly(self, x):
        return jnp.polyval(self.coef, x)

    @functools.cached_property
    def slope(self):
        return jax.jit(jax.grad(self.poly))

    @property
    def value(self):
        return jax.jit(self.poly)

def descend(model, x):
    value = model.value
    for _ in range(10):
        x = x - 0.1 * model.slope(x) * value(x)
    return x

descend(Surrogate(jnp.ones(3)), 1.0)
