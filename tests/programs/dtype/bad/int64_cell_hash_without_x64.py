# blind: eighteenth

import functools

import jax
import jax.numpy as jnp

PRIMES = (73856093, 19349663, 83492791)


def cell_coords(pos, cell):
    return jnp.floor(pos / cell).astype(jnp.int32)


def cell_id(coords, shape):
    """Row-major id of a cell in a (nx, ny, nz) grid."""
    nx, ny, nz = shape
    c = coords.astype(jnp.int64)  # finding
    return (c[:, 0] * ny + c[:, 1]) * nz + c[:, 2]  # finding-also


@functools.partial(jax.jit, static_argnames=("shape", "n_bins"))
def neighbour_histogram(pos, cell, shape, n_bins):
    ids = cell_id(cell_coords(pos, cell), shape)
    order = jnp.argsort(ids)
    return ids[order], jnp.bincount(ids % n_bins, length=n_bins)


def main():
    shape = (4096, 4096, 4096)
    pos = jax.random.uniform(jax.random.key(0), (6, 3), minval=0.0, maxval=4096.0)
    ids, hist = neighbour_histogram(pos, 1.0, shape, 8)
    print(ids, hist)


if __name__ == "__main__":
    main()
