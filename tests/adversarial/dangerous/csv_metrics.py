# function: evaluate
# arguments: w=array, x=array, y=array
# refused: writer.writerow(

"""Metrics of every batch go into a CSV file."""

import csv
import os
import tempfile

import jax
import jax.numpy as jnp

path = os.path.join(tempfile.gettempdir(), f"metrics-{os.getpid()}.csv")
handle = open(path, "w", newline="")
writer = csv.writer(handle)


def record(name, *values):
    writer.writerow([name, *values])


def evaluate(w, x, y):
    scores = jax.nn.sigmoid(x @ w)
    accuracy = jnp.mean((scores > 0.5) == (y > 0.5))
    record("accuracy", accuracy)
    return accuracy


def main():
    x = jax.random.normal(jax.random.key(3), (200, 6))
    w = jnp.linspace(-1.0, 1.0, 6)
    y = (x[:, 0] > 0).astype(jnp.float32)
    history = []
    for number in range(50):
        history.append(evaluate(w * number, x, y))
    handle.close()
    print("last", history[-1], "best", max(history))
    os.remove(path)


if __name__ == "__main__":
    main()
