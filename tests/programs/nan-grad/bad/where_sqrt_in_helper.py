# source: sail-sg/jax_xc#28

import jax
import jax.numpy as jnp


def safe_sqrt(x):
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)  # finding


def density_gradient(rho, sigma):
    return safe_sqrt(sigma) / (rho ** (4 / 3) + 1e-10)


def exchange_energy(params, rho, sigma):
    s = density_gradient(rho, sigma)
    enhancement = 1 + params["kappa"] - params["kappa"] / (1 + params["mu"] * s**2 / params["kappa"])
    return -jnp.sum(rho ** (4 / 3) * enhancement)


if __name__ == "__main__":
    params = {"kappa": 0.804, "mu": 0.2195}
    potential = jax.grad(exchange_energy, argnums=2)
    print(potential(params, jnp.array([0.1, 0.2]), jnp.array([0.0, 0.3])))
