# copies of one key, and keys that are made of them

import jax
import jax.numpy as jnp

def draw(key):
    return jax.random.normal(key, (3,))

def copied(key, n):
    keys = jnp.stack([key] * n)
    return jax.vmap(draw)(keys)  # finding

def listed(key, xs):
    return jax.vmap(lambda k, x: x + jax.random.normal(k))(jnp.array([key, key, key]), xs)  # finding

def folded_before(key, n):
    keys = jax.vmap(jax.random.fold_in)(jnp.stack([key] * n), jnp.arange(n))
    return jax.vmap(draw)(keys)

def folded_inside(key, n):
    numbered = jax.vmap(lambda k, i: draw(jax.random.fold_in(k, i)))
    return numbered(jnp.stack([key] * n), jnp.arange(n))

def folded_one_by_one(key, n):
    return jax.vmap(draw)(jnp.stack([jax.random.fold_in(key, i) for i in range(n)]))

def split_one_by_one(key, n):
    keys = []
    for _ in range(n):
        key, part = jax.random.split(key)
        keys.append(part)
    return jax.vmap(draw)(jnp.stack(keys))

def listed_apart(key):
    first, second = jax.random.split(key)
    return jax.vmap(draw)(jnp.stack([first, second]))
