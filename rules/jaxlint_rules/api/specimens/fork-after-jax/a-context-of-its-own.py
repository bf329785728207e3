# pools with a context, threads, and pools before JAX has started

import multiprocessing as mp
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import jax.numpy as jnp


def load(paths):
    with mp.Pool(4) as pool:
        return pool.map(len, paths)


def count(paths):
    with ProcessPoolExecutor(4, mp_context=mp.get_context("spawn")) as pool:
        return list(pool.map(len, paths))


def read(paths):
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(len, paths))


def main(paths):
    sizes = jnp.asarray(load(paths))
    return sizes, count(paths), read(paths)


main(["a.npy", "b.npy"])
