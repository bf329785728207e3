# pools and processes without a start method: one finding for a file

import multiprocessing as mp
from concurrent.futures import ProcessPoolExecutor

import jax
import jax.numpy as jnp


def summarise(paths, workers=4):
    with mp.Pool(workers) as pool:  # finding
        return pool.map(len, paths)


def count(paths):
    with ProcessPoolExecutor(max_workers=4) as pool:
        return list(pool.map(len, paths))


def watch(path):
    process = mp.Process(target=print, args=(path,))
    process.start()


def main(paths):
    print("devices", jax.devices())
    stats = jnp.asarray(summarise(paths))
    watch(paths[0])
    return stats, count(paths)


main(["a.npy", "b.npy"])
