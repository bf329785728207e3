# source: google-deepmind/mctx#20
# blind: first

import jax
import jax.numpy as jnp
from jax import lax


def bisect(fn, low, high, tol=1e-6):
    evaluations = 0

    def cond(bounds):
        lo, hi = bounds
        return hi - lo > tol

    def body(bounds):
        nonlocal evaluations
        lo, hi = bounds
        mid = 0.5 * (lo + hi)
        evaluations += 1  # finding
        left = fn(lo) * fn(mid) <= 0
        return jnp.where(left, lo, mid), jnp.where(left, mid, hi)

    root = lax.while_loop(cond, body, (low, high))
    return root[0], evaluations


if __name__ == "__main__":
    print(bisect(lambda x: x**2 - 2.0, 0.0, 2.0))
