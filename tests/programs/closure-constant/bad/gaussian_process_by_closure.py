# source: jax-ml/jax#3220
# blind: seventh

import jax
import jax.numpy as jnp
from jax.scipy.optimize import minimize


def make_data(n=2000):
    x = jnp.linspace(0.0, 10.0, n)
    d2 = (x[:, None] - x[None, :]) ** 2
    return d2, jnp.sin(x)


def fit():
    d2, y = make_data()

    @jax.jit
    def objective(theta):
        scale, noise = jnp.exp(theta)
        gram = jnp.exp(-0.5 * d2 / scale**2) + (noise + 1e-4) * jnp.eye(y.size)  # finding
        factor = jnp.linalg.cholesky(gram)
        alpha = jax.scipy.linalg.cho_solve((factor, True), y)
        return 0.5 * y @ alpha + jnp.log(jnp.diag(factor)).sum()

    return minimize(objective, jnp.zeros(2), method="BFGS").x


if __name__ == "__main__":
    print(fit())
