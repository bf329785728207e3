# split by each row for the steps of its loop

import jax
import jax.numpy as jnp

def langevin(x, key):
    def body(x, k):
        return x - 0.1 * x + jax.random.normal(k, x.shape), None

    return jax.lax.scan(body, x, jax.random.split(key, 20))[0]

def walk(x, key):
    keys = jax.random.split(key, 20)
    return jax.lax.scan(lambda x, k: (x + jax.random.normal(k), x), x, xs=(keys, jnp.arange(20)))

def rollout(theta, key):
    return jax.lax.scan(lambda x, k: (x + theta * jax.random.normal(k), x), 0.0, jax.random.split(key, 20))

def chains(starts, key):
    moved, walked = jax.random.split(key)
    a = jax.vmap(langevin, in_axes=(0, None))(starts, moved)  # finding
    b = jax.vmap(walk, in_axes=(0, None))(starts, walked)  # finding
    return a, b

def apart(starts, key):
    return jax.vmap(langevin)(starts, jax.random.split(key, len(starts)))

def compared(thetas, key):
    return jax.vmap(rollout, in_axes=(0, None))(thetas, key)
