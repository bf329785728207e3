# source: jax-ml/jax#24255
# blind: seventh

"""Eigenmodes of layered media: the decomposition is only there for the CPU."""

import jax
import jax.numpy as jnp


def _eig_host(matrix):
    values, vectors = jnp.linalg.eig(matrix)  # finding
    return values.astype(jnp.complex64), vectors.astype(jnp.complex64)


def eig(matrix):
    shapes = (
        jax.ShapeDtypeStruct(matrix.shape[:-1], jnp.complex64),
        jax.ShapeDtypeStruct(matrix.shape, jnp.complex64),
    )
    return jax.pure_callback(_eig_host, shapes, matrix, vmap_method="expand_dims")  # finding-also


@jax.jit
def propagate(matrix, amplitude, thickness):
    values, vectors = eig(matrix)
    phase = jnp.exp(1j * jnp.sqrt(values) * thickness)
    return vectors @ (phase * jnp.linalg.solve(vectors, amplitude))


if __name__ == "__main__":
    matrix = jax.random.normal(jax.random.key(0), (32, 32)).astype(jnp.complex64)
    for _ in range(3):
        print(abs(propagate(matrix, jnp.ones(32, jnp.complex64), 0.1)).max())
