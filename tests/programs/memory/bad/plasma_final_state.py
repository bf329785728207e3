# source: uwplasma/JAX-in-Cell#37
# blind: nineteenth

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Plasma(NamedTuple):
    position: jax.Array
    velocity: jax.Array
    field: jax.Array


def deposit(position, cells, length):
    scaled = position / length * cells
    left = jnp.floor(scaled).astype(jnp.int32) % cells
    frac = scaled - jnp.floor(scaled)
    rho = jnp.zeros(cells).at[left].add(1.0 - frac).at[(left + 1) % cells].add(frac)
    return rho / rho.mean() - 1.0


def solve_field(rho, length):
    k = 2.0 * jnp.pi * jnp.fft.rfftfreq(rho.shape[0], d=length / rho.shape[0])
    rho_k = jnp.fft.rfft(rho)
    field_k = jnp.where(k > 0, -1j * rho_k / jnp.where(k > 0, k, 1.0), 0.0)
    return jnp.fft.irfft(field_k, n=rho.shape[0])


def gather(field, position, length):
    cells = field.shape[0]
    scaled = position / length * cells
    left = jnp.floor(scaled).astype(jnp.int32) % cells
    frac = scaled - jnp.floor(scaled)
    return (1.0 - frac) * field[left] + frac * field[(left + 1) % cells]


@functools.partial(jax.jit, static_argnames=("steps", "cells"))
def relax(position, velocity, steps, cells, length=12.0, dt=0.1):
    def push(state, _):
        velocity = state.velocity - dt * gather(state.field, state.position, length)
        position = jnp.mod(state.position + dt * velocity, length)
        field = solve_field(-deposit(position, cells, length), length)
        state = Plasma(position, velocity, field)
        return state, state  # finding

    start = Plasma(position, velocity, solve_field(-deposit(position, cells, length), length))
    _, history = jax.lax.scan(push, start, None, length=steps)  # finding-also
    return jax.tree.map(lambda a: a[-1], history)  # finding-also


def main():
    k_x, k_v = jax.random.split(jax.random.key(0))
    position = jax.random.uniform(k_x, (20_000,), maxval=12.0)
    beam = jnp.where(jnp.arange(20_000) % 2 == 0, 1.5, -1.5)
    velocity = beam + 0.1 * jax.random.normal(k_v, (20_000,))
    compiled = relax.lower(position, velocity, steps=150, cells=64).compile()
    print("temporary MiB", compiled.memory_analysis().temp_size_in_bytes / 2 ** 20)
    final = compiled(position, velocity)
    print("field energy", float(0.5 * jnp.mean(final.field ** 2)), "spread", float(final.velocity.std()))


if __name__ == "__main__":
    main()
