# lists of a known length, and maps under jit and gradients

import jax
import jax.numpy as jnp

FOLDS, ROWS = 16, 128


def masks():
    folds = jnp.arange(ROWS) % FOLDS
    return jnp.stack([folds != fold for fold in range(FOLDS)])


def fit(mask, noise, y):
    return jnp.sum(jnp.where(mask, y, 0.0) * noise)


def loss(scales, rows, y):
    return jax.vmap(fit, in_axes=(0, 0, None))(scales > 0.0, rows, y).sum()


def main(y):
    run = jax.vmap(fit, in_axes=(0, 0, None))
    one = run(masks(), jnp.ones(ROWS), y)  # finding
    two = jax.jit(run)(jnp.ones((4, ROWS)), jnp.ones(5), y)  # finding
    return one, two, run(masks(), jnp.ones(FOLDS), y)
