# lists that a document or the command line gives
import argparse
import functools
import json

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("widths", "name"))
def stack(x, widths, name="tanh"):
    for width in widths:
        x = getattr(jnp, name)(x[:width])
    return x


@functools.partial(jax.jit, static_argnums=1)
def pooled(x, windows):
    return [x.reshape(-1, w).mean(axis=1) for w in windows]


def from_file(path, x):
    with open(path) as file:
        settings = json.load(file)
    return stack(x, settings["model"]["widths"], settings["model"]["name"])  # finding


def from_text(x):
    settings = json.loads('{"windows": [2, 4], "name": "sin"}')
    return pooled(x, settings["windows"])  # finding


def from_the_command_line(x):
    parser = argparse.ArgumentParser()
    parser.add_argument("--windows", type=int, nargs="+", default=[2, 4])
    args = parser.parse_args([])
    return pooled(x, args.windows)  # finding
