# function: signal
# arguments: x=array, now=float, start=float
# refused: `now - start` at clock_phase.py:MARKED may subtract two large Python numbers
# flags: --epoch 1700000000

"""A phase is worked out of two times in seconds; with `--epoch` these count from 1970."""

import argparse

import jax.numpy as jnp


def signal(x, now, start):
    phase = (now - start) * 0.1  # finding
    wave = jnp.sin(x * 3.0 + phase) + 0.5 * jnp.cos(x * 5.0 - phase)
    return jnp.mean(wave * jnp.exp(-(x**2)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epoch", type=float, default=0.0)
    args = parser.parse_args()
    x = jnp.linspace(-2.0, 2.0, 256)
    total = 0.0
    for number in range(80):
        total = total + signal(x, args.epoch + 0.25 * number, args.epoch)
    print("total", total)


if __name__ == "__main__":
    main()
