# flags: --prng rbg
"""Resampled means: `rbg`, a choice for the generator, draws other numbers under `vmap` than key by key."""

import argparse

import jax
import jax.numpy as jnp


def means(keys, x):
    found = []
    for key in keys:
        index = jax.random.randint(key, x.shape, 0, len(x))
        found.append(jnp.mean(x[index]))
    return jnp.stack(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--prng", default="threefry2x32")
    jax.config.update("jax_default_prng_impl", parser.parse_args().prng)
    x = jnp.linspace(-1.0, 2.0, 50) ** 3
    for seed in range(3):
        found = means(jax.random.split(jax.random.key(seed), 150), x)
        print(seed, f"{found.mean():.4f} {found.std():.4f}")


if __name__ == "__main__":
    main()
