# functions that only a private module of JAX has: nothing says that they return arrays

import jax.numpy as jnp
from jax._src.lax.lax import remaining
from jax._src.numpy.lax_numpy import zeros


def permutation(ndim, contracting, batch):
    kept = remaining(range(ndim), contracting, batch)
    return list(batch) + kept + list(contracting)


def shifted(n):
    return zeros(n) + [1.0]  # finding


print(permutation(3, [1], [0]), jnp.ones(1))
