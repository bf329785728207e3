# an operator and a function

import jax
import jax.numpy as jnp

def embed(tokens, table):
    return jnp.dot(jax.nn.one_hot(tokens, 1000), table)  # finding

def selected(values, actions):
    chosen = jax.nn.one_hot(actions, 4)
    return chosen @ jnp.asarray(values)  # finding
