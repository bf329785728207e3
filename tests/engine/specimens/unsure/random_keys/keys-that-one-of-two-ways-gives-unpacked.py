# keys that one of two ways gives, unpacked
import jax
from itertools import repeat

def split_if_given(key, num):
    if key is None:
        return tuple(repeat(None, num))
    return jax.random.split(key, num)

def dropout(x, key=None):
    if key is None:
        return x
    return x * jax.random.bernoulli(key, 0.5, x.shape)

@jax.jit
def block(x, key=None):
    first, second = split_if_given(key, 2)
    return dropout(dropout(x, first), second)

def evaluate(x):
    return block(x, key=None)
