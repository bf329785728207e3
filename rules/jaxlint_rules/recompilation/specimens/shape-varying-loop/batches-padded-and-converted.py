# batches that a helper pads to their longest, and converts

import jax
import jax.numpy as jnp
import numpy as np

def padded(rows):
    longest = max(len(row) for row in rows)
    out = np.zeros((len(rows), longest), np.int32)
    for place, row in enumerate(rows):
        out[place, : len(row)] = row
    return jnp.asarray(out)

def fixed(rows, longest=32):
    out = np.zeros((len(rows), longest), np.int32)
    return jnp.asarray(out)

@jax.jit
def score(table, tokens):
    return jnp.sum(table[tokens])

def evaluate(table, corpus, size):
    total = 0.0
    for start in range(0, len(corpus), size):
        total += score(table, padded(corpus[start : start + size]))  # finding
        total += score(table, fixed(corpus[start : start + size]))
    return total
