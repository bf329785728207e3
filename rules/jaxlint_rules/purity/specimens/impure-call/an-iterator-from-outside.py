# an iterator from outside

import jax
import jax.numpy as jnp

def batches():
    for i in range(10):
        yield jnp.ones(4) * i

stream = batches()

@jax.jit
def step(w):
    return w - 0.1 * next(stream)  # finding

def make_step(xs):
    rows = iter(xs)
    return jax.jit(lambda w: w - next(rows))  # finding

make_step([1.0, 2.0])(step(jnp.ones(4)))
