# function: propose
# arguments: x=array, noise=array, config=Config
# static: config
# refused: `config` may be a `Config`, whose `==`
# flags: --anneal

"""A sampler with a frozen configuration, two of which are equal where only their notes differ."""

import argparse
import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Config:
    dims: int
    name: str
    heat: float = dataclasses.field(default=1.0, compare=False)


def propose(x, noise, config):
    slope = -x - 0.3 * jnp.sin(3 * x)
    drift = 0.05 * slope / config.heat
    moved = x + drift + jnp.sqrt(0.1) * noise
    return jnp.clip(moved, -config.dims * 2.0, config.dims * 2.0) + 0.001 * jnp.tanh(moved)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--anneal", action="store_true")
    args = parser.parse_args()
    config = Config(8, "plain")
    key = jax.random.key(0)
    noises = jax.random.normal(key, (500, 8))
    x = jnp.zeros(8)
    for turn in range(500):
        if args.anneal and turn == 250:
            config = dataclasses.replace(config, heat=0.1)
        x = propose(x, noises[turn], config)
        if turn % 125 == 124:
            print(turn, f"{float(jnp.abs(x).sum()):.4f}", config)


if __name__ == "__main__":
    main()
