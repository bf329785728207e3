# source: google/flax#1047

import jax
import jax.numpy as jnp


@jax.jit
def evaluate(w, x):
    return jnp.max(jnp.abs(x @ w - 1.0))


def worst(w, loader):
    error = 0.0
    for x in loader:
        error = max(error, evaluate(w, x))  # finding
    return error


if __name__ == "__main__":
    print(worst(jnp.ones(3), [jnp.ones((4, 3))] * 5))
