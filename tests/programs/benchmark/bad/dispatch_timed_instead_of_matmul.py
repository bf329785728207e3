# source: jax-ml/jax#1797
# blind: fifth

import time

import jax
import jax.numpy as jnp


@jax.jit
def gram(x):
    return jnp.tanh(x @ x.T).sum(axis=0)


def seconds_per_call(fn, x, repeats=20):
    fn(x).block_until_ready()
    start = time.perf_counter()
    for _ in range(repeats):
        fn(x)
    return (time.perf_counter() - start) / repeats  # finding


def main():
    for n in (64, 256, 512):
        x = jax.random.normal(jax.random.key(n), (n, n))
        print(n, seconds_per_call(gram, x))


if __name__ == "__main__":
    main()
