# a helper that measures, called by a loop over sizes

import time

import jax
import jax.numpy as jnp

@jax.jit
def attention(q, k, v):
    return jax.nn.softmax(q @ k.T) @ v

@jax.jit
def mixed(q, k, v):
    return jax.nn.sigmoid(q @ k.T) @ v

@jax.jit
def added(q, k, v):
    return q + k + v

def timed(f, *args):
    start = time.perf_counter()
    f(*args).block_until_ready()
    return time.perf_counter() - start

def timed_again(f, *args):
    f(*args).block_until_ready()
    start = time.perf_counter()
    f(*args).block_until_ready()
    return time.perf_counter() - start

for n in (128, 256, 512):
    q = jnp.ones((n, 64))
    print(n, timed(attention, q, q, q))  # finding

for n in (128, 256, 512):
    q = jnp.ones((n, 64))
    print(n, timed_again(mixed, q, q, q))

for repeat in range(3):
    q = jnp.ones((128, 64))
    print(repeat, timed(added, q, q, q))
