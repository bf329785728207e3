# stable forms, and other logarithms

import jax
import jax.numpy as jnp

def partition(energies, top):
    stable = jnp.log(jnp.sum(jnp.exp(energies - top), axis=0)) + top
    return stable + jax.nn.logsumexp(energies)

def loss(logits, label):
    p = jax.nn.softmax(logits, axis=-1)
    return -jnp.log(p + 1e-8)[label] - jax.nn.log_softmax(logits)[label] - jnp.log(jnp.clip(p, 1e-6, 1.0))[label]

def other(x):
    return jnp.log(x) + jnp.log(jnp.sum(x)) + jnp.log(1 + x)
