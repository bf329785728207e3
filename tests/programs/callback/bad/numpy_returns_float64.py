# source: jax-ml/jax#12596

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special


def bessel_host(order, x):
    return special.jv(float(order), np.asarray(x, np.float64))


def bessel(order, x):
    out = jax.ShapeDtypeStruct(x.shape, jnp.float64)  # finding-also
    return jax.pure_callback(bessel_host, out, order, x)  # finding


@jax.jit
def mode_power(r, coeffs):
    field = sum(c * bessel(n, r) for n, c in enumerate(coeffs))
    return jnp.sum(field**2)


if __name__ == "__main__":
    print(mode_power(jnp.linspace(0.1, 5, 10), [1.0, 0.5]))
