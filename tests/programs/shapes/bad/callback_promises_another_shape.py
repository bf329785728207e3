# blind: tenth
# missed: how long a histogram of NumPy is is unknown

import jax
import jax.numpy as jnp
import numpy as np


def host_histogram(x):
    counts, _ = np.histogram(x, bins=32, range=(0.0, 1.0))
    return counts.astype(np.float32)


@jax.jit
def entropy(x):
    like = jax.ShapeDtypeStruct((33,), jnp.float32)
    counts = jax.pure_callback(host_histogram, like, x)  # finding
    p = counts / counts.sum()
    return -jnp.sum(jnp.where(p > 0, p * jnp.log(jnp.where(p > 0, p, 1.0)), 0.0))


print(entropy(jnp.linspace(0.0, 1.0, 500)))
