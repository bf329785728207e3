# forks after JAX has computed something

import multiprocessing as mp
import os

import jax
import jax.numpy as jnp

params = jnp.ones((128, 128))


def simulate(seed):
    return float(jnp.sum(jax.random.normal(jax.random.key(seed), (1000,))))


def evaluate_in_child(path):
    score = float((params @ params).sum())
    pid = os.fork()  # finding
    if pid == 0:
        with open(path, "w") as f:
            f.write(str(score))
        os._exit(0)
    os.waitpid(pid, 0)


def main():
    print(jnp.ones(3).sum())
    ctx = mp.get_context("fork")
    with ctx.Pool(4) as pool:  # finding
        print(pool.map(simulate, range(8)))


evaluate_in_child("score.txt")
main()
