# small arrays, NumPy, jitted and functional updates, and one that runs once

import functools

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct


@functools.partial(jax.jit, donate_argnums=0)
def write(buffer, index, row):
    return buffer.at[index].set(row)


class Numbers:
    def __init__(self):
        self.counts = jnp.zeros(10)
        self.rows = np.zeros((100000, 17))
        self.device = jnp.zeros((100000, 17))

    def add(self, index, row):
        self.counts = self.counts.at[index].add(1)
        self.rows[index] = row
        self.device = write(self.device, index, row)

    def reset(self):
        self.device = self.device.at[0].set(0.0)


@struct.dataclass
class Functional:
    rows: jax.Array

    def add(self, index, row):
        return self.replace(rows=self.rows.at[index].set(row))


numbers = Numbers()
for i in range(10):
    numbers.add(i, jnp.ones(17))
numbers.reset()
