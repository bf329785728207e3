# a list in a variable

from functools import partial
import jax

SIZES = [2, 3]

@partial(jax.jit, static_argnums=1)
def reshape(x, sizes):
    return x.reshape(sizes)

def main(x):
    return reshape(x, SIZES)  # finding
