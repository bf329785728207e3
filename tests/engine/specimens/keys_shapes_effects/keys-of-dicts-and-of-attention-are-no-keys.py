# keys of dicts and of attention are no keys
import jax
import jax.numpy as jnp

def attention(query, key, value):
    scores = query @ key.T
    return (scores @ value) + (key * 2).sum()

def merge(table):
    return {key: table[key] for key in sorted(table)}

jax.jit(attention)(jnp.eye(2), jnp.eye(2), jnp.eye(2))
merge({"a": 1, "b": 2})
