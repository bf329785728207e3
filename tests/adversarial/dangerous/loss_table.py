# function: huber
# arguments: pred=array, target=array
# refused: tests for a Python function
# flags: --list

"""Losses are found by looking through the module, as plugins are."""

import argparse
import inspect
import sys

import jax
import jax.numpy as jnp


def huber(pred, target):
    d = jnp.abs(pred - target)
    small = 0.5 * d * d
    return jnp.mean(jnp.where(d < 1.0, small, d - 0.5) + 0.01 * jnp.tanh(pred) ** 2)


def smooth(pred, target):
    d = pred - target
    return jnp.mean(jnp.sqrt(1.0 + d * d) - 1.0 + 0.01 * jnp.log1p(jnp.exp(-jnp.abs(pred))))


def _available():
    functions = inspect.getmembers(sys.modules[__name__], inspect.isfunction)
    return {name: f for name, f in functions if not name.startswith("_") and name != "main"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--loss", default="huber")
    args = parser.parse_args()
    losses = _available()
    if args.list:
        for name, f in losses.items():
            print(name, inspect.signature(f), f.__code__.co_argcount)
        return
    loss = losses.get(args.loss, huber)
    x = jnp.linspace(-2.0, 2.0, 128)
    total = jnp.float32(0.0)
    for step in range(1200):
        total = total + loss(jnp.sin(x * (1 + 0.001 * step)), 0.3 * x) + huber(x, 0.1 * x)
    print(args.loss, f"{total:.3f}")


main()
