# source: jax-ml/jax#19978
# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


def _host_spectrum(mat):
    return np.linalg.eigvalsh(mat).astype(mat.dtype)


def spectrum(mat):
    out = jax.ShapeDtypeStruct(mat.shape, mat.dtype)
    return jax.pure_callback(_host_spectrum, out, mat)  # finding


@jax.jit
def spectral_gap(adjacency):
    laplacian = jnp.diag(adjacency.sum(1)) - adjacency
    values = spectrum(laplacian)
    return values[1] - values[0]


if __name__ == "__main__":
    ring = jnp.roll(jnp.eye(6), 1, axis=1)
    print(spectral_gap(ring + ring.T))
