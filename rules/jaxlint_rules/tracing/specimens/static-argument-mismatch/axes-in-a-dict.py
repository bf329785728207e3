# axes in a dict

import jax
import jax.numpy as jnp

def score(example):
    return jnp.dot(example["query"], example["document"])

batch = {"query": jnp.ones(16), "document": jnp.ones((50, 16))}
a = jax.vmap(score, in_axes={"query": None, "document": 0})(batch)  # finding
b = jax.vmap(score, in_axes=({"query": None, "document": 0},))(batch)
c = jax.vmap(score, in_axes=0)({"query": jnp.ones((50, 16)), "document": jnp.ones((50, 16))})
