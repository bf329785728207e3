# source: jax-ml/jax#883

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


class Lattice:
    def __init__(self, shape):
        self.shape = shape
        self.neighbours = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])


@partial(jax.jit, static_argnums=(1,))
def local_field(spins, offsets, coupling):
    total = jnp.zeros_like(spins)
    for dx, dy in offsets:
        total = total + jnp.roll(spins, (int(dx), int(dy)), (0, 1))
    return coupling * total


def sweep(key, spins, lattice, beta):
    field = local_field(spins, lattice.neighbours, 1.0)  # finding
    accept = jax.random.uniform(key, spins.shape) < jax.nn.sigmoid(2 * beta * field)
    return jnp.where(accept, 1.0, -1.0)


lattice = Lattice((8, 8))
spins = jnp.ones(lattice.shape)
for i in range(3):
    spins = sweep(jax.random.key(i), spins, lattice, 0.4)
print(spins.mean())
