# rows that need the row before, a few rows, rows that a loop may need to see

import jax
import jax.numpy as jnp

def energy(x):
    return jnp.sum(jnp.tanh(x))

def smoothed(xs):
    out = jnp.zeros(xs.shape)
    last = xs[0]
    for i in range(xs.shape[0]):
        last = 0.9 * last + 0.1 * xs[i]
        out = out.at[i].set(last)
    return out

def running(xs):
    out = jnp.zeros(xs.shape)
    for i in range(1, xs.shape[0]):
        out = out.at[i].set(out[i - 1] + xs[i])
    return out

def both(xs):
    out, sums = jnp.zeros(xs.shape), jnp.zeros(xs.shape)
    for i in range(1, xs.shape[0]):
        out = out.at[i].set(xs[i] - xs[0])
        sums = sums.at[i].set(sums[i - 1] + out[i])
    return out, sums

def until(xs, limit):
    out = jnp.zeros(xs.shape[0])
    for i in range(xs.shape[0]):
        if energy(xs[i]) > limit:
            break
        out = out.at[i].set(energy(xs[i]))
    return out

def corners():
    table = jnp.zeros((3, 3))
    for i in range(3):
        table = table.at[i, i].set(energy(table[i]))
    return table, sum(energy(x) for x in (table, table))

def library(xs):
    out = jnp.zeros(xs.shape[0])
    for i in range(xs.shape[0]):
        out = out.at[i].set(energy(xs[i]))
    return out

def main():
    xs = jnp.ones((100, 3))
    return smoothed(xs), running(xs), both(xs), until(xs, 1.0), corners()

main()
