# determinants under a logarithm: of a call, of a variable, of an absolute value
import jax
import jax.numpy as jnp
from jax.numpy import linalg


@jax.jit
def log_density(x, mean, covariance):
    centered = x - mean
    quadratic = centered @ jnp.linalg.solve(covariance, centered)
    return -0.5 * (quadratic + linalg.slogdet(covariance)[1])


def evidence(points, noise):
    kernel = jnp.exp(-((points[:, None] - points[None, :]) ** 2)) + noise * jnp.eye(200)
    return linalg.slogdet(kernel)[1]


def log_volume(jacobian):
    return linalg.slogdet(jacobian)[1]
