# source: jax-ml/jax#1681
# blind: sixth

"""Bisection of many brackets at once."""
import jax
import jax.numpy as jnp
from jax import lax


def bisect(f, lo, hi, tol=1e-5):
    def unfinished(bracket):
        lo, hi = bracket
        return hi - lo > tol  # finding

    def halve(bracket):
        lo, hi = bracket
        mid = 0.5 * (lo + hi)
        left = jnp.sign(f(mid)) == jnp.sign(f(lo))
        return jnp.where(left, mid, lo), jnp.where(left, hi, mid)

    lo, hi = lax.while_loop(unfinished, halve, (lo, hi))  # finding-also
    return 0.5 * (lo + hi)


def main():
    targets = jnp.array([2.0, 3.0, 5.0])
    solve = jax.jit(lambda t: bisect(lambda x: x**2 - t, jnp.zeros_like(t), t))
    print(solve(targets))


if __name__ == "__main__":
    main()
