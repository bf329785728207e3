# straight, and through a helper

import time
import jax
import jax.numpy as jnp
import numpy as np

def pairwise(x):
    return jnp.sqrt(((x[:, None] - x[None]) ** 2).sum(-1))

@jax.jit
def cube(x):
    return x @ x @ x

@jax.jit
def tenth(x):
    return x / 10

def rate(x, repeats):
    begin = time.perf_counter()
    for _ in range(repeats):
        out = cube(x)  # finding
    out.block_until_ready()
    seconds = time.perf_counter() - begin
    return repeats / seconds

def stepped(x, repeats):
    begin = time.perf_counter()
    for _ in range(repeats):
        x = tenth(x)
    x.block_until_ready()
    return (time.perf_counter() - begin) / repeats

def seconds(fn, x):
    start = time.time()
    np.asarray(fn(x))
    return time.time() - start

def main():
    print(rate(jnp.ones((8, 8)), 10), stepped(jnp.ones(3), 10))
    x = jnp.ones((100, 3))
    fast = jax.jit(pairwise)
    begin = time.perf_counter()
    fast(x).block_until_ready()  # finding
    print("jax took", time.perf_counter() - begin)
    print(seconds(jax.jit(lambda x: x * 2), x))  # finding

main()
