# output and counters

import logging
import jax
import jax.numpy as jnp
from jax import lax

logger = logging.getLogger(__name__)
calls = 0

@jax.jit
def step(x):
    global calls
    calls += 1  # finding
    print("x is", x)  # finding
    print(f"loss {jnp.sum(x)}")  # finding
    logging.info("mean %s", x.mean())  # finding
    logger.warning("max {}".format(x.max()))  # finding
    with open("log.txt", "a") as file:  # finding
        file.write("called")
    return x

def body(carry, x):
    print(carry)  # finding
    return carry + x, None

def run(xs):
    return lax.scan(body, 0.0, xs)
