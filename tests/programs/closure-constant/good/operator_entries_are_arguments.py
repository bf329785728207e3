# source: jax-ml/jax#10615
# blind: fifteenth
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Sparse(NamedTuple):
    rows: jax.Array
    cols: jax.Array
    vals: jax.Array


def laplacian(n):
    rows = np.repeat(np.arange(n), 3)
    cols = np.clip(rows + np.tile([-1, 0, 1], n), 0, n - 1)
    return Sparse(jnp.asarray(rows), jnp.asarray(cols), jnp.asarray(np.tile([-1.0, 2.0, -1.0], n).astype(np.float32)))


def make_objective(n, penalty):
    def product(matrix, x):
        return jax.ops.segment_sum(matrix.vals * x[matrix.cols], matrix.rows, num_segments=n)

    @jax.jit
    def objective(matrix, scale, x):
        y = product(matrix, scale * x)
        return 0.5 * jnp.vdot(x, y) - penalty * jnp.sum(x)

    return objective


if __name__ == "__main__":
    n = 300_000
    matrix = laplacian(n)
    objective = make_objective(n, 1.0)
    print(objective(matrix, 2.0, jnp.ones(n)))
