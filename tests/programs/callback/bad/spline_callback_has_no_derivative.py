# source: jax-ml/jax#11928
# blind: sixth

"""Fit of a drag coefficient through a table that SciPy interpolates."""
import jax
import jax.numpy as jnp
import numpy as np
from scipy.interpolate import CubicSpline

MACH = np.linspace(0.0, 3.0, 16)
TABLE = CubicSpline(MACH, 0.3 + 0.1 * np.tanh(MACH - 1.0))


def host_lookup(mach):
    return TABLE(np.asarray(mach)).astype(np.float32)


def drag(mach):
    out = jax.ShapeDtypeStruct(mach.shape, jnp.float32)
    return jax.pure_callback(host_lookup, out, mach, vmap_method="broadcast_all")  # finding


def range_error(speed, target):
    deceleration = drag(speed / 340.0) * speed**2
    return jnp.mean((deceleration - target) ** 2)


@jax.jit
def improve(speed, target):
    return speed - 1e-4 * jax.grad(range_error)(speed, target)  # finding-also


if __name__ == "__main__":
    print(improve(jnp.full(4, 300.0), jnp.full(4, 2e4)))
