# blind: ninth
# missed: it is unknown how small a residual gets

import argparse
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Iterate(NamedTuple):
    x: jax.Array
    residual: jax.Array
    count: jax.Array


def richardson(matrix, b, tol, max_steps):
    def unfinished(state):
        return (state.residual > tol) & (state.count < max_steps)  # finding

    def step(state):
        r = b - matrix @ state.x
        return Iterate(state.x + 0.3 * r, jnp.linalg.norm(r) / jnp.linalg.norm(b), state.count + 1)

    first = Iterate(jnp.zeros_like(b), jnp.asarray(jnp.inf), jnp.int32(0))
    return jax.lax.while_loop(unfinished, step, first)  # finding-also


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tol", type=float, default=1e-12)
    args = parser.parse_args([])
    key = jax.random.key(0)
    half = jax.random.normal(key, (6, 6)) / 6
    matrix = jnp.eye(6) * 2 + half @ half.T
    solve = jax.jit(richardson, static_argnums=3)
    return solve(matrix, jnp.ones(6), args.tol, 100_000)  # finding-also


if __name__ == "__main__":
    print(main())
