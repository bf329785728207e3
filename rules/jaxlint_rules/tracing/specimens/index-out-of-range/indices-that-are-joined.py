# indices that are joined from several arrays

import jax
import jax.numpy as jnp

VOCABULARY = 1000
table = jnp.zeros((VOCABULARY, 8))
longer = jnp.zeros((VOCABULARY + 2, 8))

def framed(tokens):
    begin = jnp.full((tokens.shape[0], 1), VOCABULARY)
    end = jnp.full((tokens.shape[0], 1), VOCABULARY + 1)
    return jnp.concatenate([begin, tokens, end], axis=1)

tokens = jax.random.randint(jax.random.key(0), (4, 20), 1, VOCABULARY)
a = table[framed(tokens)]  # finding
b = table[jnp.append(tokens[0], VOCABULARY)]  # finding
c = longer[framed(tokens)], table[jnp.append(tokens[0], VOCABULARY - 1)]

def padded(tokens, other):
    return table[jnp.concatenate([tokens, other])]
