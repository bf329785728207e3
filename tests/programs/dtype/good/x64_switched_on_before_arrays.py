# blind: eighteenth

import functools

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402


@functools.partial(jax.jit, static_argnames="shape")
def cell_ids(pos, cell, shape):
    c = jnp.floor(pos / cell).astype(jnp.int64)
    nx, ny, nz = shape
    return (c[:, 0] * ny + c[:, 1]) * nz + c[:, 2]


@jax.jit
def log_det_and_solve(cov, y):
    chol = jnp.linalg.cholesky(cov)
    alpha = jax.scipy.linalg.cho_solve((chol, True), y)
    return 2.0 * jnp.sum(jnp.log(jnp.diag(chol))), alpha


def squared_exponential(x, length):
    d = x[:, None] - x[None, :]
    return jnp.exp(-0.5 * (d / length) ** 2) + 1e-10 * jnp.eye(len(x))


def main():
    pos = jax.random.uniform(jax.random.key(0), (5, 3), dtype=jnp.float64, maxval=4096.0)
    ids = cell_ids(pos, 1.0, (4096, 4096, 4096))
    assert (np.asarray(ids) >= 0).all()
    x = jnp.linspace(0.0, 1.0, 10, dtype=jnp.float64)
    logdet, alpha = log_det_and_solve(squared_exponential(x, 0.3), jnp.sin(x))
    print(ids.dtype, logdet, alpha.dtype)


if __name__ == "__main__":
    main()
