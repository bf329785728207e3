# source: jax-ml/jax#8283
# blind: first

import jax
import jax.numpy as jnp
import numpy as np

OFFSETS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]


def neighbourhood(grid):
    n_pixels = int(np.prod(grid.shape))
    weights = np.array([1.0 / (1 + abs(dx) + abs(dy)) for dx, dy in OFFSETS], np.float32)
    shifted = [jnp.roll(grid, shift, axis=(0, 1)) for shift in OFFSETS]
    return sum(w * s for w, s in zip(weights, shifted)) / n_pixels


@jax.jit
def smooth(grid):
    sigma = float(np.sqrt(grid.ndim))
    label = f"{grid.dtype} {grid.shape} {sigma:.2f}"
    with jax.named_scope(label.replace(" ", "_")):
        return neighbourhood(grid) / sigma


if __name__ == "__main__":
    print(smooth(jnp.ones((4, 4))).shape)
