# source: jax-ml/jax#10187
# blind: second

import jax
import jax.numpy as jnp


def rbf(x, y, lengthscale):
    return jnp.exp(-0.5 * jnp.sum((x - y) ** 2) / lengthscale**2)


class GaussianProcess:
    def __init__(self, xs, ys, noise=0.1):
        self.xs = xs
        self.ys = ys
        self.noise = noise

    def gram(self, a, b, lengthscale):
        return jnp.array([[rbf(x, y, lengthscale) for y in b] for x in a])  # finding

    def log_likelihood(self, lengthscale):
        k = self.gram(self.xs, self.xs, lengthscale)
        k = k + self.noise * jnp.eye(len(self.xs))
        chol = jnp.linalg.cholesky(k)
        alpha = jax.scipy.linalg.cho_solve((chol, True), self.ys)
        return -0.5 * self.ys @ alpha - jnp.sum(jnp.log(jnp.diagonal(chol)))


def tune(gp, lengthscale, steps=2):
    objective = jax.jit(jax.grad(lambda s: -gp.log_likelihood(s)))
    for _ in range(steps):
        lengthscale = lengthscale - 0.01 * objective(lengthscale)
    return lengthscale


if __name__ == "__main__":
    xs = jax.random.normal(jax.random.key(0), (24, 2))
    print(tune(GaussianProcess(xs, xs[:, 0]), 1.0))
