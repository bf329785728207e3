# tuples made of such lists, texts and numbers of a document, and defaults that are tuples
import argparse
import functools
import json

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("widths", "name", "depth"))
def stack(x, widths, name="tanh", depth=1):
    for width in widths:
        for _ in range(depth):
            x = getattr(jnp, name)(x[:width])
    return x


def from_file(path, x):
    with open(path) as file:
        settings = json.load(file)
    return stack(x, tuple(settings["widths"]), settings["name"], settings["depth"])


def from_text(x):
    settings = json.loads('{"widths": [2, 4], "name": "sin", "depth": 3}')
    return stack(x, (*settings["widths"],), settings["name"], settings["depth"])


def from_the_command_line(x):
    parser = argparse.ArgumentParser()
    parser.add_argument("--widths", type=int, nargs="+", default=(2, 4))
    parser.add_argument("--steps", type=int, nargs=2)
    args = parser.parse_args([])
    return stack(x, args.widths) + stack(x, args.steps or (4, 2))


print(from_text(jnp.ones(8)), from_the_command_line(jnp.ones(8)))
