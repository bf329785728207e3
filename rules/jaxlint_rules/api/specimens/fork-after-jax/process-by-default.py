# a process without a start method

import multiprocessing as mp

import jax.numpy as jnp


def watch(path):
    process = mp.Process(target=print, args=(path,))  # finding
    process.start()


total = jnp.ones(3).sum()
watch("a.npy")
