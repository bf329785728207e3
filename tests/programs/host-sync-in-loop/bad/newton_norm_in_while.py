# source: jax-ml/jax#2960

import jax
import jax.numpy as jnp


def residual(u, load):
    lap = jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)
    return lap - u**3 - u + load


@jax.jit
def newton_step(u, load):
    r = residual(u, load)
    jac = jax.jacfwd(residual)(u, load)
    return u - jnp.linalg.solve(jac, r), jnp.linalg.norm(r)


def solve(load, tol=1e-6, max_iter=50):
    u = jnp.zeros_like(load)
    norm, it = jnp.inf, 0
    while norm > tol and it < max_iter:  # finding
        u, norm = newton_step(u, load)
        it += 1
    return u, it


if __name__ == "__main__":
    print(solve(jnp.sin(jnp.linspace(0, 6.28, 32)))[1])
