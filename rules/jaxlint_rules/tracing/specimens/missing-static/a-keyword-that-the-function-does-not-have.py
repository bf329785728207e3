# a keyword that the function does not have

from functools import partial
import jax

@partial(jax.jit, static_argnames="mode")
def normalise(x, mode="max"):
    return x / x.max() if mode == "max" else x / x.sum()

def main(x):
    return normalise(x, mod="sum")  # finding
