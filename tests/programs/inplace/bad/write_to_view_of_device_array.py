# source: jax-ml/jax#2520
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def heatmap(points):
    grid = jnp.zeros((8, 8))
    return grid.at[points[:, 0], points[:, 1]].add(1.0)


def render(points, border):
    image = np.asarray(heatmap(points))
    image[:border] = 0.0  # finding
    image[-border:] = 0.0  # finding-also
    return image


if __name__ == "__main__":
    print(render(jnp.array([[1, 2], [3, 3]]), 1).sum())
