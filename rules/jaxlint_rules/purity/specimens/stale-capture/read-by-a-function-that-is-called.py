# a global that a function reads which the jitted one differentiates

import jax
import jax.numpy as jnp

beta = 0.0
scale = 2.0


def penalty(w):
    return scale * jnp.sum(w**2)


def loss(w, x):
    return jnp.mean((x @ w) ** 2) + beta * penalty(w)  # finding


@jax.jit
def step(w, x):
    return w - 0.1 * jax.grad(loss)(w, x)


def train(w, batches):
    global beta
    for epoch in range(10):
        beta = epoch / 10
        for x in batches:
            w = step(w, x)
    return w


def penalized(w):
    return w + gamma


gamma = 1.0


@jax.jit
def once(w):
    return penalized(w)


def setup(value):
    global gamma
    gamma = value
    return once
