# flags: --save-every 10
"""Batches come from a thread, and another one may write checkpoints while training goes on."""

import argparse
import json
import queue
import threading

import jax
import jax.numpy as jnp
import numpy as np


def loader(out, batches):
    rng = np.random.default_rng(2)
    for _ in range(batches):
        x = rng.normal(size=(128, 32)).astype(np.float32)
        out.put((x, np.tanh(x[:, :1] - x[:, 1:2])))
    out.put(None)


class Saver(threading.Thread):
    def __init__(self):
        super().__init__()
        self.jobs = queue.Queue()
        self.saved = {}

    def run(self):
        while (job := self.jobs.get()) is not None:
            step, params = job
            self.saved[step] = round(float(jnp.sum(jnp.abs(params["w1"]))), 3)

    def close(self):
        self.jobs.put(None)
        self.join()
        with open("saved.json", "w") as f:
            json.dump(self.saved, f)


def loss_fn(params, x, y):
    return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"] - y) ** 2)


@jax.jit
def step(params, momentum, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    return jax.tree.map(lambda p, m: p - 0.05 * m, params, momentum), momentum, loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save-every", type=int, default=0)
    args = parser.parse_args()
    k1, k2 = jax.random.split(jax.random.key(0))
    params = {"w1": jax.random.normal(k1, (32, 512)) * 0.2, "w2": jax.random.normal(k2, (512, 1)) * 0.05}
    momentum = jax.tree.map(jnp.zeros_like, params)
    feed = queue.Queue(maxsize=4)
    threading.Thread(target=loader, args=(feed, 60), daemon=True).start()
    saver = Saver() if args.save_every else None
    if saver:
        saver.start()
    number = 0
    while (batch := feed.get()) is not None:
        if saver and number % args.save_every == 0:
            saver.jobs.put((number, params))
        params, momentum, loss = step(params, momentum, *batch)
        number += 1
        if number % 20 == 0:
            print(number, f"{float(loss):.4f}")
    if saver:
        saver.close()
        print(saver.saved)


if __name__ == "__main__":
    main()
