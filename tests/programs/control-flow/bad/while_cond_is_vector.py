# source: jax-ml/jax#2947

import jax
import jax.numpy as jnp


def bisect(f, lower, upper, tol=1e-5):
    def unfinished(state):
        lo, hi = state
        return hi - lo > tol  # finding-also

    def halve(state):
        lo, hi = state
        mid = 0.5 * (lo + hi)
        left = f(mid) > 0
        return jnp.where(left, lo, mid), jnp.where(left, mid, hi)

    lo, hi = jax.lax.while_loop(unfinished, halve, (lower, upper))  # finding
    return 0.5 * (lo + hi)


def main():
    targets = jnp.linspace(0.1, 2.0, 6)
    roots = bisect(lambda x: x**3 - targets, jnp.zeros(6), 2 * jnp.ones(6))
    print(roots)


if __name__ == "__main__":
    main()
