# real numbers that the host draws

import random
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@partial(jax.tree_util.register_dataclass, data_fields=["porosity", "decay"], meta_fields=["layers"])
@dataclass(frozen=True)
class Soil:
    porosity: float = 0.4
    decay: float = 0.1
    layers: int = 3


@jax.jit
def seep(water, soil):
    return water * soil.porosity - soil.decay * water**soil.layers


@jax.jit
def mix(water, rate):
    return (1 - rate) * water + rate * water.mean()


def ensemble(water, members, rng):
    base = Soil()
    for _ in range(members):
        member = replace(base, porosity=rng.uniform(0.2, 0.6))
        for _ in range(100):
            water = seep(water, member)
    return water


def stirred(water, steps):
    for _ in range(steps):
        water = mix(water, random.random())
    return water
