# source: jax-ml/jax#13277
# blind: seventh

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special


def bessel_host(order, x):
    return scipy.special.jv(np.asarray(order), np.asarray(x, dtype=np.float64))  # finding-also


def bessel(order, x):
    out = jax.ShapeDtypeStruct(x.shape, jnp.float64)  # finding
    return jax.pure_callback(bessel_host, out, order, x, vmap_method="expand_dims")  # finding-also


@jax.jit
def radiation_pattern(theta, aperture):
    u = aperture * jnp.sin(theta)
    return jnp.where(u > 1e-6, 2.0 * bessel(1, u) / jnp.maximum(u, 1e-6), 1.0) ** 2


if __name__ == "__main__":
    print(radiation_pattern(jnp.linspace(0.0, 1.5, 8), 10.0))
