"""A helper returns the size that decides which indices exist."""

import json

import jax
import jax.numpy as jnp


def dims(a, b, spacing):
    dim = a.shape[0]
    step = jax.lax.complex(0.0, 1.0 + (b - a) / spacing)
    return (dim, step)


def box(lo, hi, spacing):
    (lo, hi) = (jnp.asarray(lo), jnp.asarray(hi))
    (dim, step) = dims(lo, hi, spacing)
    match dim:
        case 1:
            return lo[0] + step
        case 2:
            return lo[1] + step
        case 3:
            return lo[2] + step


def first(psdf, lo, hi, spacing):
    (lo, hi) = (jnp.asarray(lo), jnp.asarray(hi))
    return box(lo, hi, spacing)


def other(lo, hi, spacing):
    return dims(lo, hi, spacing)


s = json.load(open("x"))
first(None, [0.0, 1.0], [0.0, 1.0], s["a"])
other(jnp.zeros(2), jnp.ones(2), s["a"])
box([0.0, 1.0], [0.0, 1.0], s["b"])
box(jnp.zeros(2), jnp.ones(2), s["b"])
box(jnp.zeros(3), jnp.ones(3), s["b"])
box(jnp.zeros(2), jnp.ones(2), s["c"])
