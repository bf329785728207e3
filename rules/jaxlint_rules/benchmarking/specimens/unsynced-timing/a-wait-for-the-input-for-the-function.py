# a wait for the input, for the function, and one for the result

import time
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return x @ x

def by_input():
    x = jnp.ones((500, 500))
    step(x).block_until_ready()
    start = time.perf_counter()
    y = step(x)
    x.block_until_ready()
    print(time.perf_counter() - start)  # finding
    return y

def by_function():
    x = jnp.ones((500, 500))
    step(x).block_until_ready()
    start = time.perf_counter()
    y = step(x)
    jax.block_until_ready(step)
    print(time.perf_counter() - start)  # finding
    return y

def by_result():
    x = jnp.ones((500, 500))
    step(x).block_until_ready()
    start = time.perf_counter()
    y = step(x)
    y.block_until_ready()
    print(time.perf_counter() - start)
    return y

by_input()
by_function()
by_result()
