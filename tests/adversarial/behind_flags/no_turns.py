# flags: --months 0
"""Savings month by month: without a month the sum stays the number that it starts as, and the mean raises ZeroDivisionError."""

import argparse
import json

import jax
import jax.numpy as jnp


def saved(rates, deposit):
    total = 0.0
    for rate in rates:
        total = total * (1 + jnp.tanh(rate)) + deposit * jnp.exp(-rate)
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--months", type=int, default=400)
    months = parser.parse_args().months
    for seed in range(4):
        rates = 0.01 * jax.random.normal(jax.random.key(seed), (months,))
        total = saved(rates, 10.0)
        print(seed, json.dumps(total if isinstance(total, float) else round(float(total), 1)))
    try:
        print(f"{float(total / months):.3f}")
    except ZeroDivisionError:
        print("no months")


if __name__ == "__main__":
    main()
