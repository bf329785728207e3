# source: jax-ml/jax#27748
# blind: eighteenth

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Fluid(NamedTuple):
    u: jax.Array
    dye: jax.Array


def step(state, dt):
    lap = sum(jnp.roll(state.u, s, a) for s in (1, -1) for a in (0, 1)) - 4 * state.u
    u = state.u + dt * 0.1 * lap
    dye = state.dye - dt * u * (jnp.roll(state.dye, -1, 0) - jnp.roll(state.dye, 1, 0)) / 2
    return Fluid(u, dye)


@functools.partial(jax.jit, static_argnames=("n_steps", "save_every"), donate_argnums=0)
def simulate(state, n_steps, save_every, dt=0.1):
    def inner(s, _):
        return step(s, dt), None

    def outer(s, _):
        s, _ = jax.lax.scan(inner, s, None, length=save_every)
        return s, (s.dye.mean(), jnp.abs(s.u).max())

    return jax.lax.scan(outer, state, None, length=n_steps // save_every)


@jax.jit
def mean_kernel(x, y, bandwidth):
    def row(xi):
        return jnp.exp(-jnp.sum((y - xi) ** 2, -1) / (2 * bandwidth**2)).mean()

    return jax.lax.map(row, x, batch_size=32).mean()


if __name__ == "__main__":
    n = 32
    u0 = jnp.sin(jnp.linspace(0.0, 6.28, n))[None] * jnp.ones((n, 1))
    final, (dye, speed) = simulate(Fluid(u0, jnp.zeros((n, n)).at[:8].set(1.0)), 100, 20)
    print(final.dye.shape, dye, speed)
    print(mean_kernel(jnp.ones((100, 3)), jnp.zeros((50, 3)), 1.0))
