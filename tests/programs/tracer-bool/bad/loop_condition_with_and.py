# source: jax-ml/jax#3761
# blind: first

import jax
import jax.numpy as jnp
from jax import lax


def power_iteration(a, tol=1e-5, max_iter=100):
    def unfinished(state):
        i, _, change = state
        return change > tol and i < max_iter  # finding

    def multiply(state):
        i, v, _ = state
        w = a @ v
        w = w / jnp.linalg.norm(w)
        return i + 1, w, jnp.linalg.norm(w - v)

    start = jnp.ones(a.shape[0]) / jnp.sqrt(a.shape[0])
    _, v, _ = lax.while_loop(unfinished, multiply, (0, start, jnp.inf))
    return v


if __name__ == "__main__":
    print(power_iteration(jnp.diag(jnp.arange(1.0, 4.0))))
