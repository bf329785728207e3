# source: jax-ml/jax#2219

import jax
import jax.numpy as jnp


def rbf(a, b, length):
    return jnp.exp(-jnp.sum((a - b) ** 2) / (2 * length**2))


def gram(x, length):
    n = x.shape[0]
    k = jnp.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            k[i, j] = k[j, i] = rbf(x[i], x[j], length)  # finding
    return k


def posterior_mean(x, y, x_new, length=1.0, noise=1e-2):
    k = gram(x, length) + noise * jnp.eye(x.shape[0])
    cross = jax.vmap(lambda q: jax.vmap(lambda p: rbf(q, p, length))(x))(x_new)
    return cross @ jnp.linalg.solve(k, y)


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (6, 2))
    print(posterior_mean(x, x[:, 0], x[:2]))
