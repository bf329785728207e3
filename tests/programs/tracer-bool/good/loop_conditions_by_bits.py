# source: jax-ml/jax#3761
# blind: first

import jax
import jax.numpy as jnp
from jax import lax


def solve(a, b, tol=1e-6, max_iter=50, verbose=False):
    if verbose and max_iter > 0:
        print("conjugate gradients", a.shape)
    name = (verbose and "loud") or "quiet"

    def unfinished(state):
        i, x, r = state
        return (i < max_iter) & (jnp.vdot(r, r) > tol**2) & jnp.logical_not(jnp.any(jnp.isnan(r)))

    def step(state):
        i, x, r = state
        x = x + 0.1 * r
        return i + 1, x, b - a @ x

    with jax.named_scope(name):
        return lax.while_loop(unfinished, step, (0, jnp.zeros_like(b), b))[1]


if __name__ == "__main__":
    print(jax.jit(solve)(jnp.eye(2), jnp.ones(2)))
