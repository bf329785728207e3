# source: openxla/xla#1652
# blind: third

import jax
import jax.numpy as jnp


def build_laplacian(n):
    rows = jnp.concatenate([jnp.arange(n - 1), jnp.arange(1, n)])
    cols = jnp.concatenate([jnp.arange(1, n), jnp.arange(n - 1)])
    weights = jnp.full(rows.shape, -1.0)

    def matvec(v):
        return 2.0 * v + jnp.zeros_like(v).at[rows].add(weights * v[cols])  # finding-also

    return matvec


def smooth(n=4_000_000, sweeps=3):
    apply = build_laplacian(n)

    @jax.jit
    def jacobi(v, b):
        return v + 0.4 * (b - apply(v))  # finding

    v, b = jnp.zeros(n), jnp.ones(n)
    for _ in range(sweeps):
        v = jacobi(v, b)
    return v


if __name__ == "__main__":
    print(smooth()[:3])
