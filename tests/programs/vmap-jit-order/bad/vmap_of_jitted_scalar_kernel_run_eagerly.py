# blind: eighteenth
# missed: eight iterations

import jax
import jax.numpy as jnp


@jax.jit
def matern32(x, y, lengthscale):
    r = jnp.sqrt(jnp.sum((x - y) ** 2) + 1e-12) / lengthscale
    return (1 + jnp.sqrt(3.0) * r) * jnp.exp(-jnp.sqrt(3.0) * r)


def gram(x, y, lengthscale):
    row = jax.vmap(matern32, in_axes=(None, 0, None))  # finding-also
    return jax.vmap(row, in_axes=(0, None, None))(x, y, lengthscale)  # finding


def log_marginal(x, y, lengthscale, noise=1e-2):
    k = gram(x, x, lengthscale) + noise * jnp.eye(x.shape[0])
    chol = jnp.linalg.cholesky(k)
    alpha = jax.scipy.linalg.cho_solve((chol, True), y)
    return -0.5 * y @ alpha - jnp.sum(jnp.log(jnp.diag(chol)))


def grid_search(x, y, lengthscales):
    scores = [log_marginal(x, y, ls) for ls in lengthscales]
    best = jnp.argmax(jnp.stack(scores))
    return lengthscales[best], scores


if __name__ == "__main__":
    xs = jax.random.uniform(jax.random.key(0), (40, 2))
    ys = jnp.sin(4 * xs[:, 0]) + xs[:, 1]
    print(grid_search(xs, ys, jnp.linspace(0.1, 1.0, 8))[0])
