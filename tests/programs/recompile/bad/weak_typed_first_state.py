# source: google-deepmind/mujoco#2306

from typing import NamedTuple

import jax
import jax.numpy as jnp


class SimState(NamedTuple):
    q: jax.Array
    v: jax.Array
    time: float
    work: float


@jax.jit
def step(state, dt):
    force = -jnp.sin(state.q) - 0.05 * state.v
    v = state.v + dt * force
    q = state.q + dt * v
    work = state.work + jnp.sum(force * v) * dt
    return SimState(q, v, state.time + dt, work)


def simulate(q0, n_steps, dt):
    state = SimState(q0, jnp.zeros_like(q0), 0.0, 0.0)  # finding-also
    dt = jnp.asarray(dt, q0.dtype)
    for _ in range(n_steps):
        state = step(state, dt)  # finding
    return state


if __name__ == "__main__":
    print(simulate(jnp.linspace(0.1, 1.0, 5), 50, 1e-2).time)
