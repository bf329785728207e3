# source: jax-ml/jax#7545

import jax
import jax.numpy as jnp
from jax.config import config  # finding

config.update("jax_debug_nans", True)


def luminosity_distance(z_grid, omega_m, h):
    e_of_z = jnp.sqrt(omega_m * (1 + z_grid) ** 3 + 1 - omega_m)
    return 2997.9 / h * jnp.trapz(1 / e_of_z, z_grid)  # finding


grad = jax.jit(jax.grad(luminosity_distance, argnums=(1, 2)))


def main():
    print(grad(jnp.linspace(0, 1, 100), 0.3, 0.7))


if __name__ == "__main__":
    main()
