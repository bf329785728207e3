# source: wcxve/elisa#302
# blind: eighteenth

import jax
import jax.numpy as jnp
import numpy as np


def _tabulated_cross_section(energy):
    """External library: knows numpy only."""
    grid = np.array([0.1, 1.0, 5.0, 10.0])
    sigma = np.array([8.0, 2.0, 0.7, 0.4])
    return np.interp(energy, grid, sigma).astype(energy.dtype)


def cross_section(energy):
    out = jax.ShapeDtypeStruct(energy.shape, energy.dtype)
    return jax.pure_callback(_tabulated_cross_section, out, energy, vectorized=True)  # finding


def transmitted(energy, column):
    return jnp.exp(-column * cross_section(energy))


@jax.jit
def model_counts(params, energies):
    source = params["norm"] * energies ** (-params["index"])
    absorb = jax.vmap(transmitted, in_axes=(0, None))(energies, params["nh"])
    return source * absorb


def main():
    params = {"norm": 1.0, "index": 1.7, "nh": 0.3}
    energies = jnp.geomspace(0.3, 8.0, 6)
    print(model_counts(params, energies))


if __name__ == "__main__":
    main()
