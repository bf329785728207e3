# source: jax-ml/jax#30401

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special


def bessel_j1(x):
    return jax.pure_callback(  # finding
        lambda v: np.asarray(special.j1(v), np.float32), jax.ShapeDtypeStruct(x.shape, x.dtype), x
    )


def airy_profile(radius, scale):
    z = radius / scale + 1e-6
    return (2 * bessel_j1(z) / z) ** 2


def fit_scale(radius, image, scale=1.0, steps=5):
    def misfit(s):
        return jnp.mean((airy_profile(radius, s) - image) ** 2)

    for _ in range(steps):
        scale = scale - 0.1 * jax.grad(misfit)(scale)  # finding-also
    return scale


print(fit_scale(jnp.linspace(0.1, 3.0, 20), jnp.ones(20)))
