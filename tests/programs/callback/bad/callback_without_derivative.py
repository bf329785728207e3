# source: jax-ml/jax#14199
# blind: first

import jax
import jax.numpy as jnp
import numpy as np
from math import lgamma


def host_lgamma(x):
    return np.asarray([lgamma(v) for v in np.ravel(x)], np.float32).reshape(np.shape(x))


def log_gamma(x):
    return jax.pure_callback(host_lgamma, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="expand_dims")  # finding-also


def nll(alpha, data):
    return -jnp.sum((alpha - 1) * jnp.log(data) - log_gamma(alpha))


if __name__ == "__main__":
    data = jnp.array([0.2, 0.5, 0.3])
    print(jax.grad(nll)(jnp.array([1.0, 2.0, 3.0]), data))  # finding
