# NumPy's ways to change an array in place

import random
import jax.numpy as jnp
import numpy as np

def f(indices):
    counts = jnp.zeros(8)
    np.add.at(counts, indices, 1.0)  # finding
    counts.fill(0.0)  # finding
    np.multiply(counts, 2.0, out=counts)  # finding
    random.shuffle(counts)  # finding
    generator = np.random.RandomState(0)
    generator.shuffle(counts)  # finding
    host = np.zeros(8)
    np.add.at(host, indices, 1.0)
    host.fill(0.0)
    np.multiply(counts, 2.0, out=host)
    random.shuffle(host)
    generator.shuffle(host)
    return counts, host
