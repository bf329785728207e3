# flags: --drop-nan
"""Scores of a model on tables with gaps, which are filled or, if asked, left out."""

import sys

import jax
import jax.numpy as jnp

DROP = "--drop-nan" in sys.argv


def table(seed):
    a, b = jax.random.split(jax.random.key(seed))
    x = jax.random.normal(a, (300, 8))
    return jnp.where(jax.random.uniform(b, (300, 8)) < 0.01, jnp.nan, x)


def score(w, x):
    if DROP:
        x = x[~jnp.isnan(x).any(axis=1)]
    else:
        x = jnp.nan_to_num(x)
    z = jnp.tanh(x @ w)
    z = z - z.mean(axis=0)
    spread = jnp.sqrt((z**2).mean(axis=0))
    return (jnp.exp(-(z**2) / (spread + 1e-3)).mean(), spread.max())


def main():
    w = jax.random.normal(jax.random.key(99), (8, 16))
    for seed in range(40):
        value, spread = score(w, table(seed))
        if seed % 10 == 0:
            print(seed, f"{float(value):.4f}", f"{float(spread):.4f}")


if __name__ == "__main__":
    main()
