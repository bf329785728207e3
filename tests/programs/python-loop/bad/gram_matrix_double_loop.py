# source: jax-ml/jax#6312

import jax
import jax.numpy as jnp


def periodic(a, b, length=1.0, period=2.0):
    s = jnp.sin(jnp.pi * jnp.abs(a - b) / period)
    return jnp.exp(-2.0 * jnp.sum(s**2) / length**2)


def gram(kernel, X):
    n = X.shape[0]
    K = jnp.zeros((n, n))
    for i in range(n):  # finding
        for j in range(i, n):  # finding-also
            k = kernel(X[i], X[j])  # finding-also
            K = K.at[i, j].set(k)  # finding-also
            K = K.at[j, i].set(k)  # finding-also
    return K


def log_marginal(X, y, noise=1e-2):
    K = gram(periodic, X) + noise * jnp.eye(len(y))
    L = jnp.linalg.cholesky(K)
    alpha = jax.scipy.linalg.cho_solve((L, True), y)
    return -0.5 * y @ alpha - jnp.sum(jnp.log(jnp.diag(L)))


if __name__ == "__main__":
    X = jnp.linspace(0, 3, 10)[:, None]
    print(log_marginal(X, jnp.sin(X[:, 0])))
