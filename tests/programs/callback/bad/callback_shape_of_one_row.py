# source: jax-ml/jax#19978
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


def nearest(points, queries):
    d = np.linalg.norm(points[None] - queries[:, None], axis=-1)
    return d.argmin(1).astype(np.int32), d.min(1).astype(np.float32)


@jax.jit
def lookup(points, queries):
    n = queries.shape[0]
    result = jax.ShapeDtypeStruct((n,), jnp.int32)
    return jax.pure_callback(nearest, result, points, queries)  # finding


if __name__ == "__main__":
    print(lookup(jnp.eye(3), jnp.ones((2, 3))))
