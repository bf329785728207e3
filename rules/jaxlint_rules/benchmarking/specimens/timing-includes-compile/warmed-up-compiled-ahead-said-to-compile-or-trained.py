# warmed up, compiled ahead, said to compile, or trained in a loop

import time
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(x):
    return jnp.sin(x) @ x

@jax.jit
def other(x):
    return jnp.cos(x) @ x

@jax.jit
def slow(x):
    return jnp.exp(x) @ x

def seconds(fn, x):
    start = time.time()
    np.asarray(fn(x))
    return time.time() - start

def main(batches):
    x = jnp.ones((100, 100))
    step(x).block_until_ready()
    begin = time.perf_counter()
    step(x).block_until_ready()
    print("jax took", time.perf_counter() - begin)
    ready = jax.jit(lambda x: x * 2).lower(x).compile()
    print(seconds(ready, x))
    print(seconds(np.sin, np.ones(3)))
    tic = time.perf_counter()
    other(x).block_until_ready()
    print("compile time:", time.perf_counter() - tic)
    tic = time.perf_counter()
    for batch in batches:
        x = slow(x + batch)
    x.block_until_ready()
    print("epoch took", time.perf_counter() - tic)

def run(x):
    began = time.perf_counter()
    x = np.sort(x)
    print("sorting took", time.perf_counter() - began)
    x = jax.jit(lambda x: x @ x)(x).block_until_ready()
    print("in total it took", time.perf_counter() - began)

main([])
run(np.ones(100))
