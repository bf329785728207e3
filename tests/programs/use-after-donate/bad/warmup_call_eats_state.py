# source: openxla/xla#22604

import time
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnames="state")
def advance(state, dt):
    pos, vel = state["pos"], state["vel"]
    diff = pos[:, None] - pos[None]
    force = -jnp.sum(diff / (jnp.sum(diff**2, -1, keepdims=True) + 1e-2), axis=1)
    vel = vel + dt * force
    return {"pos": pos + dt * vel, "vel": vel}


def benchmark(state, n_steps=10):
    jax.block_until_ready(advance(state, 0.01))
    start = time.perf_counter()
    for _ in range(n_steps):
        state = advance(state, 0.01)  # finding
    jax.block_until_ready(state)
    return (time.perf_counter() - start) / n_steps


if __name__ == "__main__":
    state = {"pos": jnp.ones((8, 3)) * jnp.arange(8.0)[:, None], "vel": jnp.zeros((8, 3))}
    print(benchmark(state))
