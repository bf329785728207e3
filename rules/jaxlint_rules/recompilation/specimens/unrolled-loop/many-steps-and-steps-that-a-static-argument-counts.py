# many steps, and steps that a static argument counts

import functools
import jax
import jax.numpy as jnp

HORIZON = 150

@jax.jit
def walk(key, x):
    for t in range(HORIZON):  # finding
        x = x + jnp.tanh(jax.random.normal(jax.random.fold_in(key, t), x.shape))
    return x

@jax.jit
def counted(x, p):
    i = 0
    while i < HORIZON - 1:  # finding
        x = x + 0.1 * jnp.tanh(p)
        p = p - 0.1 * jnp.sin(x)
        i += 1
    return x

@functools.partial(jax.jit, static_argnames="num_steps")
def integrate(x, num_steps):
    for _ in range(num_steps):  # finding
        x = smooth(x)
    return x

def smooth(x):
    return 0.5 * (x + jnp.roll(x, 1))
