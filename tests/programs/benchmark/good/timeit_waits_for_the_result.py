# source: patrick-kidger/diffrax#689
# blind: eighth

import timeit

import jax
import jax.numpy as jnp


@jax.jit
def predict(w, x):
    return jnp.tanh(x @ w)


def main(n=256):
    w = jnp.ones((n, n))
    x = jnp.ones((n, n))
    predict(w, x).block_until_ready()
    best = min(timeit.repeat(lambda: jax.block_until_ready(predict(w, x)), number=1, repeat=10))
    print("best:", best)


if __name__ == "__main__":
    main()
