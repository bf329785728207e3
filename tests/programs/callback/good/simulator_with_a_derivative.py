# source: jax-ml/jax#30401
# blind: seventh

"""An external special function with its derivative, in SciPy."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special


def _host(order, x):
    return scipy.special.jv(order, x).astype(np.float32)


@jax.custom_jvp
def bessel(order, x):
    shape = jax.ShapeDtypeStruct(x.shape, jnp.float32)
    return jax.pure_callback(_host, shape, order, x, vmap_method="expand_dims")


@bessel.defjvp
def _bessel_jvp(primals, tangents):
    order, x = primals
    _, x_dot = tangents
    slope = 0.5 * (bessel(order - 1, x) - bessel(order + 1, x))
    return bessel(order, x), slope * x_dot


def misfit(scale, r, observed):
    return jnp.mean((bessel(jnp.array(1), scale * r) - observed) ** 2)


@jax.jit
def calibrate(scale, r, observed):
    return scale - 0.1 * jax.grad(misfit)(scale, r, observed)


if __name__ == "__main__":
    print(calibrate(jnp.array(1.0), jnp.linspace(0.1, 3.0, 10), jnp.ones(10)))
