# each form

import jax
import jax.numpy as jnp

def partition(energies):
    return jnp.log(jnp.sum(jnp.exp(energies), axis=0))  # finding

@jax.jit
def loss(logits, label):
    p = jax.nn.softmax(logits, axis=-1)
    return -jnp.log(p)[label]  # finding

def binary(logit, y):
    p = jax.nn.sigmoid(logit)
    return -(y * jnp.log(p) + (1 - y) * jnp.log(1 - p))  # finding

def softplus(x):
    return jnp.log(1 + jnp.exp(x))  # finding
