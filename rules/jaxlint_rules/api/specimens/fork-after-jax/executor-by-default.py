# an executor without a start method

from concurrent.futures import ProcessPoolExecutor

import jax


def count(paths):
    with ProcessPoolExecutor(max_workers=4) as pool:  # finding
        return list(pool.map(len, paths))


print("devices", jax.devices())
count(["a.npy", "b.npy"])
