# blind: seventeenth

"""Integrate a stiff reaction on a fixed output grid with sub-steps."""
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Rates(NamedTuple):
    k1: jax.Array
    k2: jax.Array
    k3: jax.Array


def robertson(y, r):
    a, b, c = y
    da = -r.k1 * a + r.k3 * b * c
    db = r.k1 * a - r.k2 * b**2 - r.k3 * b * c
    return jnp.stack([da, db, -da - db])


def heun(y, h, r):
    s1 = robertson(y, r)
    s2 = robertson(y + h * s1, r)
    low = y + h * s1
    high = y + 0.5 * h * (s1 + s2)
    return high, jnp.max(jnp.abs(high - low))


def advance(y, dt, r, tol=1e-5):
    h = dt
    new, err = heun(y, h, r)
    while err > tol:  # finding
        h = h / 2
        new, err = heun(y, h, r)
    n = dt / h
    return y + n * (new - y)


@jax.jit
def simulate(y0, ts, r):
    def body(y, dt):
        y = advance(y, dt, r)
        return y, y

    _, ys = jax.lax.scan(body, y0, jnp.diff(ts))
    return ys


if __name__ == "__main__":
    rates = Rates(jnp.float32(0.04), jnp.float32(3e2), jnp.float32(1e2))
    out = simulate(jnp.array([1.0, 0.0, 0.0]), jnp.linspace(0.0, 5.0, 50), rates)
    print(out[-1])
