# a sequence of keys from outside

import haiku as hk
import jax

keys = hk.PRNGSequence(0)

@jax.jit
def noisy(x):
    inside = hk.PRNGSequence(1)
    return x + jax.random.normal(next(keys), x.shape) + jax.random.normal(next(inside), x.shape)  # finding

def host(x):
    return noisy(x) + jax.random.normal(next(keys), x.shape)
