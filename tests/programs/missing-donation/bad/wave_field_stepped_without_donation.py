# source: jax-ml/jax#1733
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np


def ricker(t, f0=15.0):
    a = (np.pi * f0 * (t - 1.2 / f0)) ** 2
    return (1 - 2 * a) * jnp.exp(-a)


def laplacian(p, dx):
    inner = (
        p[2:, 1:-1, 1:-1] + p[:-2, 1:-1, 1:-1] + p[1:-1, 2:, 1:-1] + p[1:-1, :-2, 1:-1]
        + p[1:-1, 1:-1, 2:] + p[1:-1, 1:-1, :-2] - 6 * p[1:-1, 1:-1, 1:-1]
    ) / dx**2
    return jnp.pad(inner, 1)


def step(wavefields, velocity, t, dt, dx):
    prev, cur = wavefields
    nxt = 2 * cur - prev + (velocity * dt) ** 2 * laplacian(cur, dx)
    mid = cur.shape[0] // 2
    nxt = nxt.at[mid, mid, mid].add(dt**2 * ricker(t))
    return cur, nxt


advance = jax.jit(step, static_argnames=("dt", "dx"))  # finding


def propagate(n=96, n_steps=10, dt=1e-3, dx=10.0):
    velocity = jnp.full((n, n, n), 2000.0)
    fields = (jnp.zeros((n, n, n)), jnp.zeros((n, n, n)))
    for i in range(n_steps):
        fields = advance(fields, velocity, i * dt, dt=dt, dx=dx)  # finding-also
    return fields[1]


if __name__ == "__main__":
    print(jnp.abs(propagate()).max())
