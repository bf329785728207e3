# function: step
# arguments: w=array, batch=dict
# refused: `batch` may be a string, or hold one
# flags: --names

"""Softmax regression on batches that are dictionaries; under a flag they carry the names of their samples."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np


def batches(count, names):
    rng = np.random.default_rng(0)
    for number in range(count):
        x = rng.normal(size=(32, 10)).astype(np.float32)
        batch = {"x": x, "y": (x[:, 0] > 0).astype(np.int32)}
        if names:
            batch["name"] = f"batch {number}"
        yield batch


def step(w, batch):
    logits = batch["x"] @ w
    chance = jax.nn.softmax(logits)
    error = chance - jax.nn.one_hot(batch["y"], 2)
    slope = batch["x"].T @ error / len(batch["x"])
    size = jnp.sqrt(jnp.sum(slope**2))
    return w - 0.5 * slope / jnp.maximum(1.0, size), jnp.mean(jnp.abs(error))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--names", action="store_true")
    args = parser.parse_args()
    w = jnp.zeros((10, 2))
    worst = (0.0, None)
    for batch in batches(400, args.names):
        w, error = step(w, batch)
        if float(error) > worst[0]:
            worst = (round(float(error), 4), batch.get("name"))
    print(worst, f"{float(jnp.abs(w).sum()):.3f}")


if __name__ == "__main__":
    main()
