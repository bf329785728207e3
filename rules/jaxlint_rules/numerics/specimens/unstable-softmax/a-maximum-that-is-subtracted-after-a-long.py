# a maximum that is subtracted after a long computation

import jax.numpy as jnp

def prior(scores, a):
    scores = jnp.sum(scores, axis=1)
    scores = scores * a
    scores = scores + a
    scores = scores * a
    scores = scores + a
    scores = scores * a
    scores = scores + a
    scores = scores * a
    scores = scores + a
    scores = scores * a
    scores = scores - jnp.max(scores)
    probs = jnp.exp(scores)
    return probs / jnp.sum(probs)
