# a list of places that a loop fills
from functools import partial
import jax

def step(x, factor, limit):
    if limit > 2:
        return x * factor
    return x

@partial(jax.jit, static_argnames=("places", "held"))
def run(places, held, x):
    args = [x] * 3
    for place, value in zip(places, held):
        args[place] = value
    return step(*args)

def main(x):
    return run((2,), (4,), x)
