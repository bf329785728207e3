# draws that take few values, or are made once

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Soil:
    porosity: float = 0.4
    layers: int = 3


@partial(jax.jit, static_argnames=("soil",))
def seep(water, soil):
    return water * soil.porosity**soil.layers


@partial(jax.jit, static_argnames="width")
def widened(water, width):
    return jnp.convolve(water, jnp.ones(width))


@jax.jit
def mix(water, rate):
    return (1 - rate) * water


def ensemble(water, steps, rng):
    soil = Soil(porosity=rng.uniform(0.2, 0.6))
    for _ in range(steps):
        water = seep(water, soil)
        water = mix(water, rng.uniform())
        wide = widened(water, int(rng.integers(1, 4)))
        layered = seep(wide, Soil(layers=rng.choice([1, 2])))
        noise = jax.random.uniform(jax.random.key(0), layered.shape)
        water = water + noise[: len(water)]
    return water
