# blind: sixteenth

"""Simulate many pendulums and keep the energy of each step for a plot."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class State(NamedTuple):
    angle: jax.Array
    velocity: jax.Array


def energy(state):
    return 0.5 * state.velocity**2 + 9.81 * (1 - jnp.cos(state.angle))


def leapfrog(state, dt):
    v = state.velocity - 0.5 * dt * 9.81 * jnp.sin(state.angle)
    a = state.angle + dt * v
    v = v - 0.5 * dt * 9.81 * jnp.sin(a)
    return State(a, v)


@partial(jax.jit, static_argnames=("steps", "stride"))
def simulate(state, dt, steps, stride):
    def inner(_, state):
        return leapfrog(state, dt)

    def outer(state, _):
        state = jax.lax.fori_loop(0, stride, inner, state)
        return state, energy(state).mean()

    return jax.lax.scan(outer, state, None, length=steps // stride)


def drift(energies):
    return jnp.abs(energies - energies[0]).max() / energies[0]


def sweep(sizes):
    key = jax.random.key(3)
    ka, kv = jax.random.split(key)
    state = State(jax.random.normal(ka, (1000,)), 0.1 * jax.random.normal(kv, (1000,)))
    rows = []
    for dt in sizes:
        final, energies = simulate(state, dt, steps=2000, stride=20)
        rows.append((dt, drift(energies), final.angle.mean()))
    return rows


def main():
    for dt, worst, mean_angle in jax.device_get(sweep([0.001, 0.005, 0.01])):
        print(f"dt {dt:.3f}: energy drift {worst:.2e}, mean angle {mean_angle:+.3f}")


if __name__ == "__main__":
    main()
