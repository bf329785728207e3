# source: jax-ml/jax#21300
# blind: seventh
# missed: what a function loads and returns is not followed by its text

"""Opacity tables for radiative transfer."""

import jax
import jax.numpy as jnp
import numpy as np


def load_opacities(path):
    archive = np.load(path)
    return jnp.log(archive["kappa"]), jnp.asarray(archive["temperature"])


LOG_KAPPA, TEMPERATURE = load_opacities("opacities.npz")


@jax.jit
def optical_depth(profile, density):
    rows = jax.vmap(lambda k: jnp.interp(profile, TEMPERATURE, k))(LOG_KAPPA)  # finding
    return jnp.cumsum(jnp.exp(rows) * density, axis=-1)


def main():
    profile = jnp.linspace(200.0, 3000.0, 64)
    print(optical_depth(profile, jnp.ones(64)).shape)


if __name__ == "__main__":
    main()
