# source: jax-ml/jax#6312
# blind: eighth

import timeit

import jax
import jax.numpy as jnp


def predict(w, x):
    return jnp.tanh(x @ w)


def compare(n=256, repeats=20):
    w = jnp.ones((n, n))
    x = jnp.ones((n, n))
    batched = jax.jit(jax.vmap(predict, in_axes=(None, 0)))
    batched(w, x).block_until_ready()
    seconds = timeit.timeit(lambda: batched(w, x), number=repeats)  # finding
    print("vmap:", seconds / repeats)


if __name__ == "__main__":
    compare()
