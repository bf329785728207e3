# blind: sixteenth

"""Shallow-water run; only the final height goes into the picture."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Fields(NamedTuple):
    h: jax.Array
    u: jax.Array
    v: jax.Array


class Params(NamedTuple):
    g: float = 9.81
    depth: float = 100.0
    dx: float = 1e3
    dt: float = 5.0
    drag: float = 1e-6


def ddx(f, dx):
    return (jnp.roll(f, -1, axis=1) - jnp.roll(f, 1, axis=1)) / (2 * dx)


def ddy(f, dx):
    return (jnp.roll(f, -1, axis=0) - jnp.roll(f, 1, axis=0)) / (2 * dx)


def tendencies(state, p):
    dh = -p.depth * (ddx(state.u, p.dx) + ddy(state.v, p.dx))
    du = -p.g * ddx(state.h, p.dx) - p.drag * state.u
    dv = -p.g * ddy(state.h, p.dx) - p.drag * state.v
    return Fields(dh, du, dv)


def rk2(state, p):
    k1 = tendencies(state, p)
    mid = jax.tree.map(lambda s, k: s + 0.5 * p.dt * k, state, k1)
    k2 = tendencies(mid, p)
    return jax.tree.map(lambda s, k: s + p.dt * k, state, k2)


@partial(jax.jit, static_argnames=("n_steps",))
def integrate(state, p, n_steps):
    def step(carry, _):
        new = rk2(carry, p)
        return new, new  # finding-also

    _, history = jax.lax.scan(step, state, None, length=n_steps)  # finding
    return jax.tree.map(lambda f: f[-1], history)  # finding-also


def initial(n):
    y, x = jnp.meshgrid(jnp.linspace(-1, 1, n), jnp.linspace(-1, 1, n), indexing="ij")
    h = 0.5 * jnp.exp(-30 * (x**2 + y**2))
    return Fields(h, jnp.zeros_like(h), jnp.zeros_like(h))


def main(n=512, n_steps=2000):
    p = Params()
    state = initial(n)
    final = integrate(state, p, n_steps)
    print("max height", final.h.max(), "mass", final.h.mean())


if __name__ == "__main__":
    main(n=64, n_steps=500)
