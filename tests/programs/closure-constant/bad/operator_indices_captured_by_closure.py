# source: jax-ml/jax#14655
# blind: fifteenth
import jax
import jax.numpy as jnp
import numpy as np


def laplacian_entries(n):
    rows = np.repeat(np.arange(n), 3)
    cols = np.clip(rows + np.tile([-1, 0, 1], n), 0, n - 1)
    vals = np.tile([-1.0, 2.0, -1.0], n).astype(np.float32)
    return jnp.asarray(rows), jnp.asarray(cols), jnp.asarray(vals)


def build_operator(n):
    rows, cols, vals = laplacian_entries(n)

    def product(x):
        return jax.ops.segment_sum(vals * x[cols], rows, num_segments=n)  # finding

    return product


def make_objective(n):
    operator = build_operator(n)

    def objective(scale, x):
        y = operator(scale * x)
        return 0.5 * jnp.vdot(x, y) - jnp.sum(x)

    return jax.jit(objective)  # finding-also


if __name__ == "__main__":
    n = 300_000
    objective = make_objective(n)  # finding-also
    print(objective(2.0, jnp.ones(n)))
