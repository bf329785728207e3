# source: jax-ml/jax#2960

import jax
import jax.numpy as jnp


@jax.jit
def lloyd(centres, points):
    dist = jnp.sum((points[:, None] - centres[None]) ** 2, -1)
    one_hot = jax.nn.one_hot(dist.argmin(1), centres.shape[0])
    counts = jnp.maximum(one_hot.sum(0), 1.0)
    return (one_hot.T @ points) / counts[:, None]


def kmeans(points, centres, max_iter=100):
    for _ in range(max_iter):
        new = lloyd(centres, points)
        if jnp.allclose(new, centres):  # finding
            return new
        centres = new
    return centres


if __name__ == "__main__":
    pts = jax.random.normal(jax.random.key(0), (100, 2))
    print(kmeans(pts, pts[:4]))
