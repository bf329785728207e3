# a key for evaluations, which are to be compared

import jax

@jax.jit
def score(params, key):
    return params * jax.random.normal(key, params.shape)

def train(step, params, key):
    key, eval_key = jax.random.split(key)
    for _ in range(10):
        key, draw = jax.random.split(key)
        params = step(params, draw)
        print(score(params, eval_key))
