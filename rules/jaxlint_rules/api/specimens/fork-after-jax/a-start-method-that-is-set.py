# a program that sets its start method

import multiprocessing as mp

import jax.numpy as jnp


def main(paths):
    total = jnp.ones(3).sum()
    with mp.Pool(4) as pool:
        return total, pool.map(len, paths)


if __name__ == "__main__":
    mp.set_start_method("spawn")
    main(["a.npy", "b.npy"])
