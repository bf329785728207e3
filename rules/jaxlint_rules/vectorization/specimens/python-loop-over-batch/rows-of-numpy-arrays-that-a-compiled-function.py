# rows of NumPy arrays that a compiled function is called for

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(w, row):
    return jax.nn.sigmoid(w @ row)

def names(w, table):
    return [str(row) for row in table]

def main(n):
    w, table = jnp.ones(4), np.zeros((n, 4))
    weights = np.ones(n)
    plain = np.array([row.sum() for row in table])
    losses = []
    for row, weight in zip(table, weights):  # finding
        losses.append(score(w, row * weight))
    return jnp.array([score(w, row) for row in table]), jnp.stack(losses), plain  # finding

main(100)
