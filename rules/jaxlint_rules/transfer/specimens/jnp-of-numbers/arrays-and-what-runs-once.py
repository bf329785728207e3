# arrays, results of jitted functions, what runs once, and traced code

import math

import jax
import jax.numpy as jnp


def cosine(step, total):
    return 0.5 * (1 + math.cos(math.pi * step / total))


def scale(width):
    return float(jnp.sqrt(2.0 / width))


@jax.jit
def update(params, lr):
    return params - lr * jnp.cos(lr)


def train(params, steps, losses):
    start = scale(128)
    for step in range(steps):
        params = update(params, start * cosine(step, steps))
        losses.append(float(jnp.sum(params)))
        if step % 100 == 0:
            print(float(jnp.log(step + 1.0)), float(jnp.abs(params[0])))
    return params


train(jnp.ones(3), 1000, [])


def bands(edges, duration):
    starts = []
    for edge in edges:
        starts.append(int(jnp.ceil(edge * duration)))
    return starts


bands([1.0, 2.0], 8.0)
