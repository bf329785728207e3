# steps of a simulation

import jax.numpy as jnp

def laplacian(u):
    return jnp.roll(u, 1) - 2.0 * u + jnp.roll(u, -1)

def heat(u, steps):
    for _ in range(steps):  # finding
        u = u + 0.1 * laplacian(u)
        u = u.at[0].set(0.0)
    return u

def library(u):
    for _ in range(1000):
        u = u + 0.1 * laplacian(u)
        u = u.at[0].set(0.0)
    return u

if __name__ == "__main__":
    print(heat(jnp.ones(100), 500))
