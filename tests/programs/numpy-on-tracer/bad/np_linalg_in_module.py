# source: wesselb/stheno#21

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class GaussianProcess(eqx.Module):
    log_length: jax.Array
    log_noise: jax.Array

    def gram(self, x):
        d2 = (x[:, None] - x[None, :]) ** 2
        return jnp.exp(-0.5 * d2 / jnp.exp(2 * self.log_length)) + jnp.exp(self.log_noise) * jnp.eye(x.shape[0])

    def logpdf(self, x, y):
        k = self.gram(x)
        sign, logdet = np.linalg.slogdet(k)  # finding
        return -0.5 * (y @ jnp.linalg.solve(k, y) + logdet)


@eqx.filter_value_and_grad
def objective(gp, x, y):
    return -gp.logpdf(x, y)


def main():
    gp = GaussianProcess(jnp.array(0.0), jnp.array(-2.0))
    x = jnp.linspace(0, 1, 8)
    value, grads = objective(gp, x, jnp.sin(x))
    print(value, grads)


main()
