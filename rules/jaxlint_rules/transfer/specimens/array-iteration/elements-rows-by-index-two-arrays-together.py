# elements, rows by index, two arrays together

import jax
import jax.numpy as jnp

def total(n):
    xs = jnp.linspace(0.0, 1.0, n)
    result = 0.0
    for x in xs:  # finding
        result = result + jnp.where(x > 0.5, x, 0.0)
    return result

def labels(logits, names):
    found = []
    for index in jnp.argmax(logits, axis=-1):  # finding
        found.append(names[int(index)])
    return found

def smooth(key):
    values = jax.random.normal(key, (1000,))
    out = []
    for i in range(len(values)):  # finding
        out.append(0.9 * values[i])
    weights = jnp.exp(values)
    dot = 0.0
    for value, weight in zip(values, weights):  # finding
        dot += value * weight
    return out, dot
