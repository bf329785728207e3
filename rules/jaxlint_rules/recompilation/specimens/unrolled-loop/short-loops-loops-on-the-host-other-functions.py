# short loops, loops on the host, other functions in turn, loops of JAX

import jax
import jax.numpy as jnp

@jax.jit
def short(x):
    for _ in range(3):
        x = jnp.sin(x)
    return x

@jax.jit
def halved(x):
    size = x.shape[0]
    while size > 1:
        x = x[: size // 2] + x[size // 2 : size]
        size //= 2
    i = 0
    while i < 3:
        x = jnp.sin(x)
        i += 1
    return x

@jax.jit
def loop(x):
    return jax.lax.fori_loop(0, 500, lambda t, x: jnp.sin(x) + t, x)

def host(x):
    for _ in range(500):
        x = short(x)
    return x

@jax.jit
def layers(weights, x):
    for i in range(24):
        x = jnp.tanh(x @ weights[f"layer_{i}"])
    return x

@jax.jit
def shapes(x):
    total = 0
    for i in range(32):
        total += x.shape[0] * i
    return x * total

@jax.jit
def pyramid(x):
    for i in range(20):
        x = x[: x.shape[0] // 2] + i
    return x

zones = jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])

@jax.jit
def few_rows(x):
    total = 0.0
    for i in range(len(zones)):
        total += jnp.tanh(x[i]) * zones[i, 0]
    return total
