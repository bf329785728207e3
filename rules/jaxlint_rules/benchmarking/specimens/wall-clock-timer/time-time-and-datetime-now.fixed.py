# time.time and datetime.now

import time
from datetime import datetime
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return jnp.sin(x)

def main(x):
    start = time.perf_counter()
    step(x).block_until_ready()
    print(time.perf_counter() - start)  # finding
    begin = datetime.now()
    step(x).block_until_ready()
    return datetime.now() - begin  # finding
