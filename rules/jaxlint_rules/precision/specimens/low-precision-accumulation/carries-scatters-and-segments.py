# carries, scatters and segments

import jax
import jax.numpy as jnp

def total(xs):
    start = jnp.zeros((), jnp.bfloat16)  # finding
    return jax.lax.scan(lambda t, x: (t + x.astype(jnp.bfloat16), None), start, xs)[0]

def accumulate(xs):
    def body(i, state):
        count, acc = state
        return count + 1, acc + xs[i].astype(jnp.float16)
    return jax.lax.fori_loop(0, 1000, body, (0, jnp.zeros((8,), dtype=jnp.float16)))  # finding

def loss(logp, x):
    return -jnp.sum(logp, dtype=jnp.float16) + x.sum(dtype="float16")  # finding

def histogram(bins, weights):
    counts = jnp.zeros(16, dtype=jnp.bfloat16)
    return counts.at[bins].add(weights.astype(jnp.bfloat16))  # finding

def evaluate(predictions, labels):
    correct = jnp.zeros((), jnp.bfloat16)
    for p, y in zip(predictions, labels):
        correct = correct + jnp.sum(p == y).astype(jnp.bfloat16)  # finding
    return correct

def pooled(x, segments):
    return jax.ops.segment_sum(jnp.asarray(x, jnp.bfloat16), segments, 8)  # finding
