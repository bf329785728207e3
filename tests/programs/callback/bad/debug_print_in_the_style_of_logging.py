# source: jax-ml/jax#11770
# blind: sixth

"""Line search with a trace of its step sizes."""
import jax
import jax.numpy as jnp
from jax import lax


def backtrack(f, x, direction, slope, shrink=0.5, c1=1e-4):
    fx = f(x)

    def too_long(state):
        t, k = state
        return (f(x + t * direction) > fx + c1 * t * slope) & (k < 20)

    def shorten(state):
        t, k = state
        jax.debug.print("trial %d: step %.3g", k, t)  # finding
        return shrink * t, k + 1

    t, _ = lax.while_loop(too_long, shorten, (jnp.float32(1.0), 0))
    return t


@jax.jit
def descend(x):
    f = lambda x: jnp.sum(x**4)
    g = jax.grad(f)(x)
    t = backtrack(f, x, -g, -jnp.vdot(g, g))
    return x - t * g


if __name__ == "__main__":
    print(descend(jnp.array([1.0, -2.0])))
