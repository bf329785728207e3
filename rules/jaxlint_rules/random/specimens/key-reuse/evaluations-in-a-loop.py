# evaluations in a loop

import jax

@jax.jit
def evaluate_batch(params, batch, key):
    return (params * batch + jax.random.normal(key)).sum()

@jax.jit
def train_batch(params, batch, key):
    return params - (batch + jax.random.normal(key)).mean()

def run(params, batches, key, other):
    total = 0.0
    for batch in batches:
        total += evaluate_batch(params, batch, key)
        params = train_batch(params, batch, other)  # finding
    return params, total
