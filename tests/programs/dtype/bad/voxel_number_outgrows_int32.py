# source: jax-ml/jax#8604
# blind: second
# missed: how large the coordinates get is in the data

import jax
import jax.numpy as jnp

RESOLUTION = 2048


def corner_offsets():
    return jnp.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def voxel_number(cells):
    x, y, z = cells[..., 0], cells[..., 1], cells[..., 2]
    return (x * RESOLUTION + y) * RESOLUTION + z  # finding


def occupied(points, low, high):
    scaled = (points - low) / (high - low) * (RESOLUTION - 1)
    base = jnp.floor(scaled).astype(jnp.int32)
    return base[:, None, :] + corner_offsets()[None]


@jax.jit
def count_voxels(points):
    numbers = voxel_number(occupied(points, points.min(0), points.max(0))).reshape(-1)
    order = jnp.sort(numbers)
    return 1 + jnp.sum(order[1:] != order[:-1]), order[0]


if __name__ == "__main__":
    points = jax.random.uniform(jax.random.key(0), (50, 3))
    print(count_voxels(points))
