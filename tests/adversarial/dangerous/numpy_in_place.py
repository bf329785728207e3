# function: relax
# arguments: grid=numpy, source=numpy
# refused: `grid[1:-1, 1:-1]`

"""A filter over a NumPy buffer, which it changes where it stands."""

import jax.numpy as jnp
import numpy as np


def relax(grid, source):
    inner = (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]) / 4
    grid[1:-1, 1:-1] = inner + source[1:-1, 1:-1]
    return jnp.abs(jnp.asarray(inner)).max()


def main():
    grid = np.zeros((32, 32), dtype=np.float32)
    source = np.zeros_like(grid)
    source[16, 16] = 1.0
    for _ in range(100):
        change = relax(grid, source)
    print("change", change, "sum", grid.sum())


if __name__ == "__main__":
    main()
