# blind: every clause

import functools

import jax
import jax.numpy as jnp


def decode(w, x, greedy=True, temperature=1.0):
    logits = x @ w
    return jnp.argmax(logits) if greedy else jax.random.categorical(jax.random.key(0), logits / temperature)  # finding


sampler = functools.partial(decode, temperature=0.7)
run = jax.jit(sampler)  # finding-also
print(run(jnp.eye(2), jnp.ones(2), greedy=False))  # finding-also
