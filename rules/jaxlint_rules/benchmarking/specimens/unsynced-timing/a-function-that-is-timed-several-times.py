# a function that does not wait, and that a script times several times

import time

import jax
import jax.numpy as jnp


@jax.jit
def step(x):
    return jnp.sin(x) @ x


def sample(x, n):
    for _ in range(n):
        x = step(x)
    return x


def compare(x):
    begun = time.time()
    a = sample(x, 10)
    print("ten steps", time.time() - begun)  # finding
    begun = time.time()
    b = sample(a, 100)
    print("a hundred steps", time.time() - begun)
    return b


def elsewhere(x):
    begun = time.time()
    x = sample(x, 1000)
    print("a thousand steps", time.time() - begun)  # finding
    return x


def here(x):
    begun = time.time()
    y = step(x)
    print("one", time.time() - begun)  # finding
    begun = time.time()
    z = step(y)
    print("another", time.time() - begun)  # finding
    return z


def until_compiled(x):
    begun = time.time()
    y = sample(x, 2)
    print(f"Time to jit: {time.time() - begun:.3f} seconds")
    return y
