# source: jax-ml/jax#5879
# blind: first

import timeit

import jax
import jax.numpy as jnp


def bench(fn, *args, number=20):
    compiled = jax.jit(fn).lower(*args).compile()
    jax.block_until_ready(compiled(*args))
    total = timeit.timeit(lambda: jax.block_until_ready(compiled(*args)), number=number)
    return total / number


if __name__ == "__main__":
    print(bench(lambda a: a @ a, jnp.ones((300, 300))))
