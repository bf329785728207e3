# a setting that a function switches
from contextlib import contextmanager
import jax
import jax.numpy as jnp

SIZE = None

@contextmanager
def of_size(size):
    global SIZE
    old = SIZE
    SIZE = size
    yield
    SIZE = old

@jax.jit
def buffer(count):
    return jnp.zeros(SIZE or count)
