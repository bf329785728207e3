# a lambda, a nested function, a call at once

import jax

def train(params, batches, rate):
    for batch in batches:
        step = jax.jit(lambda p, b: p - rate * b)  # finding
        params = step(params, batch)
    for batch in batches:
        params = params + 1

        @jax.jit
        def shift(p, b):  # finding
            return p + b * rate

        params = shift(params, batch)
    for _ in range(10):
        params = jax.jit(lambda p: p * rate)(params)  # finding
    return params
