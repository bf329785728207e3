# an array that each iteration changes anew, a few updates, updates of a compiled step, and a size that nothing tells

import functools

import jax
import jax.numpy as jnp

base = jnp.zeros((300_000, 8))
for row in range(200):
    nudged = base.at[row].set(1.0)
    print(float(nudged.sum()))

table = jnp.zeros((300_000, 8))
for row in range(3):
    table = table.at[row].set(1.0)


@functools.partial(jax.jit, donate_argnums=0)
def write(rows, index, row):
    return rows.at[index].set(row)


rows = jnp.zeros((300_000, 8))
for index in range(500):
    rows = write(rows, index, jnp.ones(8))


def fill(values, count):
    for index in range(count):
        values = values.at[index].set(0.0)
    return values


print(table[0], rows[0])
