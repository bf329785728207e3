# source: jax-ml/jax#2521

import jax
import jax.numpy as jnp
import numpy as np


def rbf(a, b, scale):
    d2 = jnp.sum((a[:, None] - b[None]) ** 2, -1)
    return jnp.exp(-0.5 * d2 / scale**2)


@jax.jit
def posterior(X, y, grid, scale):
    K = rbf(X, X, scale) + 1e-4 * jnp.eye(X.shape[0])
    L = jnp.linalg.cholesky(K)
    alpha = jax.scipy.linalg.cho_solve((L, True), y)
    Ks = rbf(grid, X, scale)
    v = jax.scipy.linalg.solve_triangular(L, Ks.T, lower=True)
    return Ks @ alpha, 1.0 - jnp.sum(v**2, axis=0)


def objective(x):
    return float(np.sin(3 * x[0]) + 0.1 * x[0])


def optimise(n_iter=12, scale=0.7):
    grid = jnp.linspace(-2.0, 2.0, 64)[:, None]
    X = np.array([[-1.0], [1.0]])
    y = np.array([objective(x) for x in X])
    for _ in range(n_iter):
        mu, var = posterior(X, y, grid, scale)  # finding
        ucb = np.asarray(mu + 2.0 * jnp.sqrt(var))
        x_next = np.asarray(grid)[ucb.argmax()]
        X = np.vstack([X, x_next[None]])  # finding-also
        y = np.append(y, objective(x_next))  # finding-also
    return X[y.argmax()]


if __name__ == "__main__":
    print(optimise())
