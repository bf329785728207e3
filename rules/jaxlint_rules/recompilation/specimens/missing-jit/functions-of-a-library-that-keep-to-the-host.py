# functions that nobody is seen to call, some of which do what no trace would

import time

import jax
import jax.numpy as jnp
import numpy as np
from tqdm import tqdm

def relax_with_a_clock(depth, n):
    u = jnp.zeros((64, 64))
    began = time.perf_counter()
    for i in range(2000):  # finding
        u = u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2.0 * u)
        u = u.at[0].set(depth)
    print("seconds", time.perf_counter() - began)
    return u

def relax_with_a_bar(depth, steps):
    u = jnp.zeros((64, 64))
    for i in tqdm(range(steps)):  # finding
        u = u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2.0 * u)
        u = u.at[0].set(depth)
    return u

def relax(depth):
    u = jnp.zeros((64, 64))
    for i in range(2000):  # a caller may compile all of it
        u = u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2.0 * u)
        u = u.at[0].set(depth)
    return u

def relax_and_report(depth):
    def show(u):
        print(float(u.mean()))

    u = jnp.zeros((64, 64))
    for i in range(2000):  # what prints is another function
        u = u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2.0 * u)
        u = u.at[0].set(depth)
    return u, show

@jax.jit
def relax_compiled(depth):
    u = jnp.zeros((64, 64))
    for i in range(20):
        u = u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2.0 * u)
        u = u.at[0].set(depth)
    return u

def relax_a_little(depth):
    u = jnp.zeros((64, 64))
    for i in range(8):
        u = u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2.0 * u)
        u = u.at[0].set(depth)
    np.save("u.npy", u)
    return u
