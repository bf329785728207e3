# a call whose result is dropped, to compile first

import jax

@jax.jit
def epoch(params, key):
    key, draw = jax.random.split(key)
    return params + jax.random.normal(draw, params.shape), key

def train(params, key):
    _ = epoch(params, key)
    epoch(params, key)
    jax.block_until_ready(epoch(params, key))
    for _ in range(10):
        params, key = epoch(params, key)
    return params
