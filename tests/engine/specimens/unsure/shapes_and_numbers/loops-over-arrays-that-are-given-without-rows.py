# loops over arrays that are given without rows
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

def masks(pairs, scales, n):
    mask = np.ones((n, n))
    for (i, j), scale in zip(pairs, scales[:, 0]):
        mask[i, j] = 1 - scale
    return mask

def energy(x, pairs, scales, checked=True):
    return jnp.sum(x * masks(pairs, scales, 3))

def nothing():
    return jnp.ones((3, 3)), np.zeros((0, 2), dtype=np.int32), np.zeros((0, 2))

def compare(first, second, args):
    return first(*args), second(*args)

def test_energies():
    compare(jax.jit(partial(energy, checked=False)), jax.jit(energy), nothing())
