# a part of the stacked results, of which only the last is read

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Gas(NamedTuple):
    density: jax.Array
    heat: jax.Array


def diffuse(gas):
    return Gas(gas.density * 0.99, gas.heat + 0.1 * gas.density)


def body(gas, _):
    gas = diffuse(gas)
    return gas, gas


def final_heat(gas):
    gas, frames = jax.lax.scan(body, gas, None, length=200)  # finding
    return gas, frames.heat[-1].sum()


def report(gas):
    _, rows = jax.lax.scan(lambda g, _: (diffuse(g), {"gas": diffuse(g), "mass": g.density.sum()}), gas, None, 200)  # finding
    return rows["gas"].density[-1], rows["gas"].heat[-1], rows["mass"][-1]


def path(gas):
    frames = jax.lax.scan(body, gas, None, length=200)[1]  # finding
    return frames.density[-1]


def every(gas):
    gas, frames = jax.lax.scan(body, gas, None, length=200)
    return frames.heat[-1], frames.density.mean(0)


def masses(gas):
    gas, rows = jax.lax.scan(lambda g, _: (diffuse(g), {"mass": g.density.sum()}), gas, None, length=200)
    return gas, rows["mass"][-1]


def turned(gas):
    _, heat = jax.lax.scan(lambda g, _: (diffuse(g), g.heat), gas, None, length=200)
    return heat.T[-1], heat.at[-1].set(0.0)


gas = Gas(jnp.ones((64, 64)), jnp.zeros((64, 64)))
print(final_heat(gas), report(gas), path(gas), every(gas), masses(gas), turned(gas))
