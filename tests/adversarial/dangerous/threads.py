# function: smooth
# arguments: x=array
# refused: reads `state`, which changes at

"""A thread in the background adapts a factor while the main thread computes."""

import threading

import jax
import jax.numpy as jnp

state = {"factor": 1.0}
stop = threading.Event()


def adapt():
    while not stop.wait(0.01):
        state["factor"] = state["factor"] * 0.99


def smooth(x):
    padded = jnp.pad(x, 1, mode="edge")
    return x + state["factor"] * (padded[:-2] - 2 * x + padded[2:]) / 4


def main():
    worker = threading.Thread(target=adapt, daemon=True)
    worker.start()
    x = jax.random.normal(jax.random.key(0), (256,))
    for _ in range(200):
        x = smooth(x)
    stop.set()
    worker.join()
    print("finite", bool(jnp.isfinite(x).all()))


if __name__ == "__main__":
    main()
