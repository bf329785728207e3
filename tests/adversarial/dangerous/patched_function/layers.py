"""Layers of a network."""

import jax.numpy as jnp


def activation(x):
    return jnp.maximum(x, 0.0)


def dense(w, x):
    return activation(x @ w)
