# source: openxla/xla#1652
# blind: third

import functools

import jax
import jax.numpy as jnp


def laplacian(n):
    rows = jnp.concatenate([jnp.arange(n - 1), jnp.arange(1, n)])
    cols = jnp.concatenate([jnp.arange(1, n), jnp.arange(n - 1)])
    return rows, cols, jnp.full(rows.shape, -1.0)


def matvec(operator, v):
    rows, cols, weights = operator
    return 2.0 * v + jnp.zeros_like(v).at[rows].add(weights * v[cols])


@functools.partial(jax.jit, donate_argnums=1)
def jacobi(operator, v, b):
    return v + 0.4 * (b - matvec(operator, v))


def smooth(n=4_000_000, sweeps=3):
    operator = laplacian(n)
    v, b = jnp.zeros(n), jnp.ones(n)
    for _ in range(sweeps):
        v = jacobi(operator, v, b)
    return v


if __name__ == "__main__":
    print(smooth()[:3])
