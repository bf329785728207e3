# rows of several arrays, each with a key of its own

import jax
import jax.numpy as jnp

def noisy(key, x):
    return x + jax.random.normal(key, x.shape)

def main():
    xs = jnp.ones((100, 8))
    keys = jax.random.split(jax.random.key(0), 100)
    return jnp.stack([noisy(key, x) for key, x in zip(keys, xs)])  # finding

main()
