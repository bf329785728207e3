# output of what is static

import logging
import jax
import jax.numpy as jnp

traces = 0

@jax.jit
def step(x, y=None):
    global traces
    traces += 1
    print("tracing step", x.shape, x.dtype)
    print(f"compiling for {x.shape[0]} rows")
    logging.info("step is traced with %s", jax.default_backend())
    jax.debug.print("x is {}", x)
    if x.ndim != 1:
        raise ValueError(f"unexpected {x}")
    total = 0
    total += 1
    with open("table.txt") as file:
        table = float(file.read())
    return x * table

def main(x):
    y = step(x)
    print(f"result {y}")
    logging.info("done %s", y)
