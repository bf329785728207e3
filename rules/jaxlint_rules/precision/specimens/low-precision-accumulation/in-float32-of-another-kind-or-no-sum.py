# in float32, of another kind, or no sum

import jax
import jax.numpy as jnp

def total(xs):
    return jax.lax.scan(lambda t, x: (t + x.astype(jnp.float32), None), jnp.zeros(()), xs)[0]

def residual(layers, x):
    return jax.lax.scan(lambda h, w: (h + h @ w, None), x.astype(jnp.bfloat16), layers)[0]

def evaluate(predictions, labels):
    correct, each = jnp.zeros((), jnp.int32), []
    for p, y in zip(predictions, labels):
        correct = correct + jnp.sum(p == y)
        padded = jnp.zeros((8,), jnp.bfloat16) + p.astype(jnp.bfloat16)
        each.append(padded)
    return correct, each

def last(xs):
    return jax.lax.scan(lambda h, x: (x, None), jnp.zeros((), jnp.bfloat16), xs.astype(jnp.bfloat16))[0]

def reduced(x):
    return jnp.sum(x.astype(jnp.bfloat16)), jnp.mean(x.astype(jnp.float16))

def cache(buffer, i, x):
    return jnp.zeros((8, 4), jnp.bfloat16).at[i].set(x)
