# a call that can be made before

import time
import jax
import jax.numpy as jnp

@jax.jit
def step(x):
    return jnp.sin(x) @ x

def main():
    x = jnp.ones((100, 100))
    begin = time.perf_counter()
    step(x).block_until_ready()  # finding
    print("step took", time.perf_counter() - begin)

main()
