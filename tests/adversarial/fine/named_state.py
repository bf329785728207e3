# function: leapfrog
# arguments: state=State, dt=float

"""A state of one's own that is replaced, never changed, and helpers of another function."""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class State(NamedTuple):
    position: jax.Array
    velocity: jax.Array


def force(position):
    return -position - 0.1 * position**3


def leapfrog(state, dt):
    half = state.velocity + 0.5 * dt * force(state.position)
    position = state.position + dt * half
    velocity = half + 0.5 * dt * force(position)
    return State(position, velocity)


def energy(state):
    return 0.5 * jnp.sum(state.velocity**2) + jnp.sum(state.position**2 / 2 + 0.025 * state.position**4)


def main():
    state = State(jnp.linspace(-1.0, 1.0, 16), jnp.zeros(16))
    for _ in range(200):
        state = leapfrog(state, 0.05)
    print("energy", energy(state), jax.device_count() > 0)


if __name__ == "__main__":
    main()
