# source: jax-ml/jax#2521

import jax
import jax.numpy as jnp
import numpy as np

CAPACITY = 16


def rbf(a, b):
    return jnp.exp(-0.5 * jnp.sum((a[:, None] - b[None]) ** 2, -1))


@jax.jit
def posterior_mean(X, y, mask, grid):
    K = rbf(X, X) * mask[:, None] * mask[None] + jnp.diag(1.0 - mask) + 1e-4 * jnp.eye(CAPACITY)
    return (rbf(grid, X) * mask) @ jnp.linalg.solve(K, y * mask)


def optimise(n_iter=10):
    X = np.zeros((CAPACITY, 1), np.float32)
    y = np.zeros(CAPACITY, np.float32)
    mask = np.zeros(CAPACITY, np.float32)
    grid = jnp.linspace(-2, 2, 32)[:, None]
    for i in range(n_iter):
        X[i] = -1.5 + 0.3 * i
        y[i] = np.sin(X[i, 0])
        mask[i] = 1.0
        mean = posterior_mean(X.copy(), y.copy(), mask.copy(), grid)
    return mean


if __name__ == "__main__":
    print(optimise()[:3])
