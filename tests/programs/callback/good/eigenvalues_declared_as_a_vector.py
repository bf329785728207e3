# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


def _host_spectrum(mat):
    return np.linalg.eigvalsh(mat).astype(mat.dtype)


def spectrum(mat):
    out = jax.ShapeDtypeStruct(mat.shape[:-1], mat.dtype)
    return jax.pure_callback(_host_spectrum, out, mat, vmap_method="broadcast_all")


@jax.jit
def gaps(adjacency):
    values = jax.vmap(spectrum)(adjacency)
    return values[:, 1] - values[:, 0]


if __name__ == "__main__":
    ring = jnp.roll(jnp.eye(6), 1, axis=1)
    print(gaps((ring + ring.T)[None]))
