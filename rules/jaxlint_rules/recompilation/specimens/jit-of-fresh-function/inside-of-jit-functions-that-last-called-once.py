# inside of jit, functions that last, called once

import jax
import jax.numpy as jnp

def add(x, y):
    return x + y

def sub(x, y):
    return x - y

@jax.jit
def mix(i, x, y):
    return jax.lax.switch(i, [lambda _: x + y, lambda _: x - y], None)

def lasting(i, x, y):
    return jax.lax.switch(i, [add, sub], x, y)

def simulate(x, y, n):
    total = x
    for t in range(n):
        total = total + mix(t % 2, x, y) + lasting(t % 2, x, y)
    return total

def library(x, n):
    for _ in range(n):  # whoever calls this may well have jitted it
        x = jax.lax.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, x)
    return x

def once(x):
    return jax.lax.fori_loop(0, 10, lambda i, c: c * 0.5, x)

print(once(jnp.ones(3)))
