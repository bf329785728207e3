# a function that a setting compiles, and one that nothing compiles

import jax
import jax.numpy as jnp


def solve(x):
    def body(carry, _):
        return carry * 0.5, carry

    return jax.lax.scan(body, x, length=8)[0]


def solve_plainly(x):
    def body(carry, _):
        return carry * 0.5, carry

    return jax.lax.scan(body, x, length=8)[0]  # finding


def run(x, n, compiles=True):
    step = jax.jit(solve) if compiles else solve
    plain = solve_plainly
    for _ in range(n):
        x = step(x)
        x = plain(x)
    return x


def debug(x, n, compiles):
    if compiles:
        step = jax.jit(solve)
    else:
        step = solve
    for _ in range(n):
        x = step(x)
    return x


run(jnp.ones(3), 100, compiles=False)
debug(jnp.ones(3), 100, False)
