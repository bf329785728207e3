# function: standardize
# arguments: x=array
# refused: warnings.warn(

"""Warns where a batch is small, which each call is to do."""

import warnings

import jax
import jax.numpy as jnp


def standardize(x):
    if x.shape[0] < 30:
        warnings.warn(f"only {x.shape[0]} rows", stacklevel=2)
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6)


def main():
    warnings.simplefilter("always")
    with warnings.catch_warnings(record=True) as caught:
        for number in range(40):
            x = jax.random.normal(jax.random.key(number), (20, 4))
            y = standardize(x)
    print("warnings", len(caught), "y", jnp.abs(y).mean())


if __name__ == "__main__":
    main()
