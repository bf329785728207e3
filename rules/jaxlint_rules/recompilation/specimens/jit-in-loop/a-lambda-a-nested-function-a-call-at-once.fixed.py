# a lambda, a nested function, a call at once

import jax

def train(params, batches, rate):
    step = jax.jit(lambda p, b: p - rate * b)  # finding
    for batch in batches:
        params = step(params, batch)

    @jax.jit
    def shift(p, b):  # finding
        return p + b * rate

    for batch in batches:
        params = params + 1

        params = shift(params, batch)
    jitted = jax.jit(lambda p: p * rate)
    for _ in range(10):
        params = jitted(params)  # finding
    return params
