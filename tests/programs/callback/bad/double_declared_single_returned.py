# source: jax-ml/jax#12596
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


def host_cdf(samples):
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    return np.searchsorted(ordered, samples) / ordered.size


@jax.jit
def ranks(samples):
    spec = jax.ShapeDtypeStruct(samples.shape, jnp.float64)  # finding
    return jax.pure_callback(host_cdf, spec, samples)  # finding-also


if __name__ == "__main__":
    print(ranks(jnp.array([0.3, 0.1, 0.2])))
