# a factory of programs that differ

import jax
import jax.numpy as jnp

def make_step(width, rate):
    @jax.jit
    def step(w, x):
        return w - rate * jnp.ones(width) * x

    return step

def sweep(w, x, rates):
    found = {}
    for rate in rates:
        step = make_step(3, rate)
        for _ in range(100):
            w = step(w, x)
        found[rate] = w
    return found

def grow(x, n):
    for width in range(1, n):
        step = make_step(width, 0.1)
        x = step(x, x).sum()
    return x

sweep(jnp.ones(3), jnp.ones(3), [0.1, 0.2, 0.3, 0.4, 0.5])
grow(jnp.ones(()), 10)
