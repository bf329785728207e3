# real numbers that the host draws

import random
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Soil:
    porosity: float = 0.4
    decay: float = 0.1
    layers: int = 3


@partial(jax.jit, static_argnames=("soil",))
def seep(water, soil):
    return water * soil.porosity - soil.decay * water**soil.layers


@partial(jax.jit, static_argnames="rate")
def mix(water, rate):
    return (1 - rate) * water + rate * water.mean()


def ensemble(water, members, rng):
    base = Soil()
    for _ in range(members):
        member = replace(base, porosity=rng.uniform(0.2, 0.6))
        for _ in range(100):
            water = seep(water, member)  # finding
    return water


def stirred(water, steps):
    for _ in range(steps):
        water = mix(water, random.random())  # finding
    return water
