# a partial of a rate that the math module computes, and one of an integer

import functools
import math

import jax
import jax.numpy as jnp


def step(w, x, *, rate):
    return w - rate * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)


def padded(w, x, *, size):
    return jnp.pad(w, (0, size)).sum() + x.sum()


def cosine(count, total, base=0.1):
    return 0.5 * base * (1 + math.cos(math.pi * count / total))


def train(w, x, total):
    for count in range(total):
        update = jax.jit(functools.partial(step, rate=cosine(count, total)))  # finding
        w = update(w, x)
    for count in range(total):
        measure = jax.jit(functools.partial(padded, size=math.ceil(count / 3)))
        print(measure(w, x))
    return w
