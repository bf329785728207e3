# an index, and one-hot labels

import jax
import jax.numpy as jnp

def embed(tokens, table):
    return table[tokens]

def cross_entropy(logits, labels):
    return -jnp.sum(jax.nn.one_hot(labels, 10) * jax.nn.log_softmax(logits))
