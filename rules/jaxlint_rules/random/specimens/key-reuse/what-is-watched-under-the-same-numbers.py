# what is watched under the same numbers while it is trained, and what is not

import jax
import jax.numpy as jnp

def bound(key, params):
    return (params * jax.random.normal(key, params.shape)).mean()

@jax.jit
def step(params, batch):
    return params - batch

def watched(params, batches, key):
    curve = []
    for batch in batches:
        params = step(params, batch)
        curve.append(float(bound(key, params)))
    return params, curve

def watched_carry(carry, chunks, key):
    curve = []
    for chunk in chunks:
        carry, _ = jax.lax.scan(lambda c, x: (step(c[0], x), None), carry, chunk)
        params = carry[0]
        value = bound(key, params)
        curve.append(value)
    return carry, curve

def goes_on_with_it(params, batches, key):
    for batch in batches:
        params = step(params, batch)
        params = params + bound(key, params)  # finding
    return params

def of_each_batch(batches, key):
    results = []
    for batch in batches:
        x = jnp.asarray(batch)
        results.append(x + jax.random.normal(key, x.shape))  # finding
    return results

def counted(batches, key):
    i, results = 0, []
    while i < len(batches):
        x = batches[i]
        results.append(bound(key, x))  # finding
        i = i + 1
    return results

def changed_in_place(batches, key):
    results = []
    for x in batches:
        x = jnp.tanh(x)
        results.append(bound(key, x))  # finding
    return results
