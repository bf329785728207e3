# source: jax-ml/jax#14655
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp
import numpy as np


class GaussianProcess:
    def __init__(self, x, y, lengthscale=0.3, noise=1e-2):
        self.x = jnp.asarray(x)
        self.y = jnp.asarray(y)
        self.lengthscale = lengthscale
        d2 = (self.x[:, None] - self.x[None]) ** 2
        self.kernel = jnp.exp(-0.5 * d2 / lengthscale**2) + noise * jnp.eye(len(x))
        self.chol = jnp.linalg.cholesky(self.kernel)

    def cross(self, xq):
        return jnp.exp(-0.5 * (xq[:, None] - self.x[None]) ** 2 / self.lengthscale**2)

    @functools.partial(jax.jit, static_argnums=0)  # finding
    def predict(self, xq):  # finding-also
        kq = self.cross(xq)
        alpha = jax.scipy.linalg.cho_solve((self.chol, True), self.y)  # finding-also
        mean = kq @ alpha
        v = jax.scipy.linalg.solve_triangular(self.chol, kq.T, lower=True)  # finding-also
        return mean, 1.0 - jnp.sum(v**2, axis=0)


def main():
    x = np.linspace(0.0, 1.0, 1500, dtype=np.float32)
    y = np.sin(6 * x)
    gp = GaussianProcess(x, y)
    mean, var = gp.predict(jnp.linspace(0.2, 0.8, 5))
    print(mean, var)


if __name__ == "__main__":
    main()
