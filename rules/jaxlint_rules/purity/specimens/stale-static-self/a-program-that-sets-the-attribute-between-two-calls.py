# a program that sets the attribute between two calls

from functools import partial
import jax
import jax.numpy as jnp

class Model:
    def __init__(self):
        self.beta = 1.0
        self.scale = 1.0

    @partial(jax.jit, static_argnums=0)
    def energy(self, x):
        return self.beta * self.scale * jnp.sum(x ** 2)  # finding

    @partial(jax.jit, static_argnums=0)
    def force(self, x):
        return -self.scale * x

def sweep(x):
    model = Model()
    model.scale = 2.0
    energies = []
    for beta in (1.0, 2.0):
        model.beta = beta
        energies.append(model.energy(x))
    return energies

def each(x):
    results = []
    for scale in (1.0, 2.0):
        model = Model()
        model.scale = scale
        results.append(model.force(x))
    model.scale = 3.0
    return results

def late(x):
    model = Model()
    model.force(x)
    model.scale = 3.0
    return model
