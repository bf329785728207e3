# function: shape_of
# arguments: x=array, settings=Settings
# static: settings
# refused: whose `==` treats different values as equal
# flags: --scales 1,1.0

"""A filter whose settings are a frozen dataclass; settings that are equal need not mean the same."""

import argparse
import json
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Settings:
    scale: float = 3
    bias: float = 0.0
    rounds: int = 3


def shape_of(x, settings):
    y = x * settings.scale
    for _ in range(settings.rounds):
        y = (y + jnp.roll(y, 1)) // 2
        y = jnp.where(y > 50, y - 50, y) + y % 7
    return y, jnp.arctan2(settings.bias * jnp.ones(3), -jnp.ones(3))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scales", default="3")
    parser.add_argument("--bias", default="0.5")
    args = parser.parse_args()
    x = jnp.arange(40)
    total = 0
    for _ in range(500):
        for scale in args.scales.split(","):
            for bias in args.bias.split(","):
                y, angle = shape_of(x, Settings(json.loads(scale), float(bias)))
                total += int(y[-1])
    for scale in args.scales.split(","):
        for bias in args.bias.split(","):
            y, angle = shape_of(x, Settings(json.loads(scale), float(bias)))
            print(scale, bias, y.dtype, f"{float(y.sum()):.2f}", f"{float(angle[0]):.3f}")
    print(total)


main()
