# processes that are spawned, and those that are forked before JAX computes

import multiprocessing as mp

import jax
import jax.numpy as jnp


def simulate(seed):
    return float(jnp.sum(jax.random.normal(jax.random.key(seed), (1000,))))


def read(path):
    with open(path) as f:
        return f.read()


def load(paths):
    with mp.get_context("fork").Pool(4) as pool:
        texts = pool.map(read, paths)
    return jnp.asarray([len(t) for t in texts])


def main():
    print(jnp.ones(3).sum())
    with mp.get_context("spawn").Pool(4) as pool:
        print(pool.map(simulate, range(8)))


if __name__ == "__main__":
    main()
