# function: averaged
# arguments: signal=array, rate=float
# refused: `mean` at growing_sum.py:MARKED may return a number of Python
# flags: --channels 3

"""Exponential averages of a signal that has one channel, or several; the average starts as a plain zero."""

import argparse

import jax
import jax.numpy as jnp


def averaged(signal, rate):
    mean, peak = 0.0, jnp.zeros(())
    for row in signal:
        mean = (1 - rate) * mean + rate * jnp.tanh(row)
        peak = jnp.maximum(peak, jnp.abs(row - mean))
    return mean, peak  # finding


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--channels", type=int, default=0)
    args = parser.parse_args()
    shape = (300, args.channels) if args.channels else (300,)
    for seed in range(3):
        signal = jax.random.normal(jax.random.key(seed), shape)
        mean, peak = averaged(signal, 0.05)
        print(seed, mean.shape, f"{float(mean.sum()):.4f} {float(peak.sum()):.4f}")


if __name__ == "__main__":
    main()
