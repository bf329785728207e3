# what libraries ask for: a class that checks itself, a schedule, and sequences that are compared

from typing import NamedTuple
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

class Halo(eqx.Module):
    mass: jax.Array
    order: int = 2

    def __check_init__(self):
        if self.order not in (1, 2):
            raise ValueError(self.order)
        if not 0.0 < self.mass < 1.0:  # finding
            raise ValueError("mass")

class State(NamedTuple):
    labels: jax.Array
    step: int

def schedule(peak):
    def value(count):
        if count < 100:  # finding
            return peak
        return peak / 2
    return value

def on_the_host(count):
    return 0.1 if count < 100 else 0.05

optimizer = optax.chain(optax.clip(1.0), optax.adam(schedule(1e-3)))

@jax.jit
def step(params, state, old):
    halo = Halo(jnp.exp(params))
    new = State(jnp.argsort(params), 1)
    same = new == old  # finding
    sizes = (params.shape[0], 2) == (3, 2) and new == new
    updates, state = optimizer.update(params, state)
    return halo, same, sizes, updates, state

def eager(params, state, old):
    Halo(jnp.exp(params))
    optax.sgd(on_the_host).update(params, state)
    return step(params, state, State(old, 0))
