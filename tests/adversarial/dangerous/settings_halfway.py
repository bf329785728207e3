# function: entropy
# arguments: logits=array
# refused: reads `TEMPERATURE`, which is set at
# flags: --anneal

"""Annealed smoothing: a setting of the module is changed by a flag, after some steps."""

import argparse

import jax
import jax.numpy as jnp

TEMPERATURE = 1.0


def set_temperature(value):
    global TEMPERATURE
    TEMPERATURE = value


def soften(logits):
    scaled = logits / TEMPERATURE
    shifted = scaled - jnp.max(scaled, axis=-1, keepdims=True)
    weights = jnp.exp(shifted)
    return weights / jnp.sum(weights, axis=-1, keepdims=True)


def entropy(logits):
    p = soften(logits)
    return -jnp.sum(p * jnp.log(p + 1e-9), axis=-1).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--anneal", action="store_true")
    args = parser.parse_args()
    logits = jax.random.normal(jax.random.key(1), (32, 10))
    total = 0.0
    for number in range(60):
        if args.anneal and number % 20 == 19:
            set_temperature(TEMPERATURE * 0.5)
        total += entropy(logits + number * 0.01)
    print("entropy", total)


if __name__ == "__main__":
    main()
