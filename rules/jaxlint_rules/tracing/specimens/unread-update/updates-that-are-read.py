# updates that are read, written back or returned, arrays of NumPy, and what a function made itself

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def sgd(params, grads, lr):
    new = {}
    for name in params:
        w = params[name]
        w = w - lr * grads[name]
        new[name] = w
    return new


@jax.jit
def norm(params, x):
    w = params["w"]
    w = w / jnp.linalg.norm(w)
    total = 0.0
    for row in x:
        total = total + row @ w
    return total, params


def fill(buffer, values):
    row = buffer[0]
    row += values
    return buffer


@jax.jit
def last(x):
    y = x * 2
    y = y + 1
    return x


def main():
    return jnp.asarray(fill(np.zeros((2, 3)), np.ones(3)))


@jax.jit
def flat(x, y):
    x = x.reshape(-1)
    return y


@jax.jit
def of_another_kind(rows, key):
    for row in rows:
        row = row[jnp.newaxis]
    for row in rows:
        row = jnp.mean(row)
    key = jax.random.fold_in(key, 3)
    return rows
