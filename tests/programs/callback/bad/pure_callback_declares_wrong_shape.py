# source: jax-ml/jax#12186
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np
from scipy import integrate


def host_simpson(y, dx):
    y = np.asarray(y)
    return integrate.simpson(y, dx=float(dx), axis=-1).astype(y.dtype)


def simpson(y, dx):
    out = jax.ShapeDtypeStruct(y.shape, y.dtype)  # finding
    return jax.pure_callback(host_simpson, out, y, dx, vmap_method="sequential")  # finding-also


def growth_rate(a, omega_m):
    e2 = omega_m / a**3 + 1.0 - omega_m
    return 1.0 / (a**3 * e2**1.5)


@jax.jit
def growth_factor(omega_m):
    a = jnp.linspace(1e-2, 1.0, 101)
    integrand = growth_rate(a, omega_m[:, None])
    return 2.5 * simpson(integrand, a[1] - a[0])


def main():
    omegas = jnp.array([0.25, 0.3, 0.35])
    print(growth_factor(omegas))


if __name__ == "__main__":
    main()
