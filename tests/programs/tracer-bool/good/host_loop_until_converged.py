# source: google-deepmind/optax#1129
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def sweep(x):
    new = 0.5 * (x + 2.0 / x)
    return new, jnp.max(jnp.abs(new - x))


def solve(x, tol=1e-6, check_every=20, limit=1000):
    for block in range(limit // check_every):
        for _ in range(check_every):
            x, err = sweep(x)
        if err < tol:
            return x, block
    raise RuntimeError("no convergence")


if __name__ == "__main__":
    print(solve(jnp.ones(4)))
