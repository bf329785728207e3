# determinants under a logarithm: of a call, of a variable, of an absolute value
import jax
import jax.numpy as jnp
from jax.numpy import linalg


@jax.jit
def log_density(x, mean, covariance):
    centered = x - mean
    quadratic = centered @ jnp.linalg.solve(covariance, centered)
    return -0.5 * (quadratic + jnp.log(jnp.linalg.det(covariance)))  # finding


def evidence(points, noise):
    kernel = jnp.exp(-((points[:, None] - points[None, :]) ** 2)) + noise * jnp.eye(200)
    volume = linalg.det(kernel)
    return jnp.log(volume)  # finding


def log_volume(jacobian):
    return jnp.log(jnp.abs(jnp.linalg.det(jacobian)))  # finding
