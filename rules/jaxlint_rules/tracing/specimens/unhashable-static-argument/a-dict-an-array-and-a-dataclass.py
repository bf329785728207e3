# a dict, an array and a dataclass

import dataclasses
import jax
import jax.numpy as jnp

@dataclasses.dataclass
class Config:
    width: int = 4

def apply(x, options, table, config):
    return x

fast = jax.jit(apply, static_argnums=(1, 2, 3))

def main(x):
    options = {"width": 3}
    return fast(x, options, jnp.ones(3), Config())  # finding
