# source: jax-ml/jax#2660

import jax
import jax.numpy as jnp


def evaluate(x):
    value = jnp.sum(x**2)
    return value, {"norm": jnp.sqrt(value), "peak": jnp.max(jnp.abs(x))}


def skip(x):
    return jnp.zeros(()), {}


@jax.jit
def maybe_evaluate(counter, x):
    return jax.lax.cond(counter >= 10, evaluate, skip, x)  # finding


def main():
    for counter in range(12):
        value, extra = maybe_evaluate(counter, jnp.ones(3) * counter)
    print(value, extra)


main()
