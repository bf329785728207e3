# function: metrics
# arguments: w=array, x=array, y=array
# refused: `writer.writerow(found)` at metric_order.py:MARKED may depend on their order
# flags: --csv

"""Metrics are printed in the order in which they were made; `--csv` writes a header from it."""

import argparse
import csv
import sys

import jax
import jax.numpy as jnp


def metrics(w, x, y):
    prediction = x @ w
    error = prediction - y
    return {
        "mse": jnp.mean(error**2),
        "bias": jnp.mean(error),
        "corr": jnp.mean(prediction * y) / (jnp.std(prediction) * jnp.std(y) + 1e-6),
        "absolute": jnp.mean(jnp.abs(error)),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--csv", action="store_true")
    args = parser.parse_args()
    x = jax.random.normal(jax.random.key(0), (64, 8))
    y = x @ jnp.ones(8)
    total = 0.0
    for number in range(60):
        found = metrics(jnp.full(8, number / 60), x, y)
        total += found["mse"]
        if args.csv:
            writer = csv.writer(sys.stdout)
            if number == 0:
                writer.writerow(found)  # finding
            writer.writerow(f"{float(one):.3f}" for one in found.values())
    print("mse", total / 60)


if __name__ == "__main__":
    main()
