# the length of a prompt

from functools import partial
import jax
import jax.numpy as jnp

@partial(jax.jit, static_argnames="length")
def score(tokens, length):
    return jnp.sum(tokens[:length])

def rank(prompts, batches):
    scores = []
    for prompt in prompts:
        scores.append(score(jnp.array(prompt), length=len(prompt)))  # finding
    for batch in batches:
        scores.append(score(jnp.array(batch), length=len(batch)))
    return scores

rank([[1, 2], [3]], [[1, 2], [3, 4]])
