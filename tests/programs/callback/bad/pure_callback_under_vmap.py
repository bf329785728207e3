# source: jax-ml/jax#23881

import jax
import jax.numpy as jnp
import numpy as np


def host_lookup(energy):
    return np.asarray(1.0 / np.sqrt(np.asarray(energy)), np.float32)


def cross_section(energy):
    shape = jax.ShapeDtypeStruct(energy.shape, jnp.float32)
    return jax.pure_callback(host_lookup, shape, energy)  # finding


def transmission(thickness, energy):
    return jnp.exp(-thickness * cross_section(energy))


spectrum = jax.jit(jax.vmap(transmission, in_axes=(None, 0)))

if __name__ == "__main__":
    print(spectrum(0.2, jnp.linspace(0.5, 3.0, 6)))
