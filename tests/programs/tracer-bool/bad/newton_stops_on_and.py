# source: patrick-kidger/diffrax#379
# blind: third

from typing import Callable, NamedTuple

import jax
import jax.numpy as jnp


class Iterate(NamedTuple):
    x: jax.Array
    err: jax.Array
    k: jax.Array


def newton(residual: Callable, tol: float, max_steps: int):
    slope = jax.grad(residual)

    def keep_going(it: Iterate):
        return it.err > tol and it.k < max_steps  # finding

    def refine(it: Iterate):
        x = it.x - residual(it.x) / slope(it.x)
        return Iterate(x, jnp.abs(x - it.x), it.k + 1)

    def solve(guess):
        start = Iterate(jnp.asarray(guess, float), jnp.asarray(jnp.inf), jnp.asarray(0))
        return jax.lax.while_loop(keep_going, refine, start).x

    return solve


kepler = newton(lambda e: e - 0.3 * jnp.sin(e) - 1.2, tol=1e-6, max_steps=30)

if __name__ == "__main__":
    print(kepler(1.0))
