# what compiles ahead

from functools import partial
import jax

@partial(jax.jit, static_argnames="count")
def insert(x, count):
    return x[:count]

def precompile(x):
    for count in range(1, 64):
        insert(x, count=count)

def fill(x):
    for count in range(1, 64):
        insert(x, count=count)  # finding
