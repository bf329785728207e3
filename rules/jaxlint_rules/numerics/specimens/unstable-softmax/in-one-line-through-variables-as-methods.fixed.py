# in one line, through variables, as methods

import jax

def one(x):
    return jax.nn.softmax(x, axis=-1)

@jax.jit
def two(q, k):
    return jax.nn.softmax(q @ k.T, axis=-1)

@jax.jit
def three(x):
    return jax.nn.softmax(x, axis=1)
