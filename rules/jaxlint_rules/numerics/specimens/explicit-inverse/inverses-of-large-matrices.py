# inverses that one product reads: in it, or by a name
import jax
import jax.numpy as jnp
from jax.numpy.linalg import inv


@jax.jit
def weights(features, targets):
    gram = features.T @ features + 1e-3 * jnp.eye(256)
    return jnp.linalg.inv(gram) @ (features.T @ targets)  # finding


@jax.jit
def gain(prior, observed):
    innovation = observed @ prior @ observed.T + jnp.eye(64)
    return prior @ observed.T @ inv(innovation)  # finding


def posterior_mean(points, values):
    kernel = jnp.exp(-((points[:, None] - points[None, :]) ** 2)) + 0.1 * jnp.eye(500)
    precision = jnp.linalg.inv(kernel)
    return jnp.dot(precision, values)  # finding
