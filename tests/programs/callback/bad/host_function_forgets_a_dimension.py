# source: jax-ml/jax#24756
# blind: seventh
# missed: the shape of what SciPy returns is not known

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial import cKDTree


def nearest_host(points, queries):
    _, index = cKDTree(points).query(queries)
    return index  # finding-also


@jax.jit
def nearest(points, queries):
    shape = jax.ShapeDtypeStruct(queries.shape, jnp.float32)
    index = jax.pure_callback(nearest_host, shape, points, queries)  # finding
    return points[index.astype(jnp.int32)]


if __name__ == "__main__":
    points = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
    print(nearest(jnp.asarray(points), jnp.zeros((5, 3))).shape)
