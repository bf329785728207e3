# blind: twentieth

"""Preconditioned conjugate gradients for a Poisson problem with column vectors."""
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax


@dataclass(frozen=True)
class Solver:
    tol: float = 1e-8
    max_iter: int = 500


class CGState(NamedTuple):
    x: jax.Array
    r: jax.Array
    p: jax.Array
    rz: jax.Array
    it: jax.Array


def laplacian(u, side):
    grid = jnp.pad(u.reshape(side, side), 1)
    around = grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]
    return (4.0 * grid[1:-1, 1:-1] - around).reshape(u.shape)


def inner(a, b):
    return jnp.vdot(a, b)


def conjugate_gradient(matvec, precondition, b, solver):
    z = precondition(b)
    init = CGState(jnp.zeros_like(b), b, z, inner(b, z), jnp.zeros((), jnp.int32))
    goal = solver.tol * inner(b, b)

    def unfinished(s):
        return (inner(s.r, s.r) > goal) & (s.it < solver.max_iter)

    def body(s):
        ap = matvec(s.p)
        alpha = s.rz / inner(s.p, ap)
        x = s.x + alpha * s.p
        r = s.r - alpha * ap
        z = precondition(r)
        rz = inner(r, z)
        return CGState(x, r, z + (rz / s.rz) * s.p, rz, s.it + 1)

    return lax.while_loop(unfinished, body, init)


@partial(jax.jit, static_argnames=("side", "solver"))
def solve(b, side, solver):
    out = conjugate_gradient(lambda u: laplacian(u, side), lambda r: 0.25 * r, b, solver)
    return out.x, out.it


def point_charges(side):
    grid = jnp.zeros((side, side))
    grid = grid.at[side // 4, side // 4].set(1.0).at[3 * side // 4, side // 2].set(-1.0)
    return grid.reshape(-1, 1)


def main(side=32):
    b = point_charges(side)
    x, iterations = solve(b, side, Solver())
    residual = laplacian(x, side) - b
    print("iterations", int(iterations), "residual", float(jnp.abs(residual).max()))


if __name__ == "__main__":
    main()
