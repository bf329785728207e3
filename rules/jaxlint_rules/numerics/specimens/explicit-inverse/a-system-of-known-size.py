# the matrix is one matrix of known size, so the product can be rewritten
import jax
import jax.numpy as jnp


def fit(key, targets):
    features = jax.random.normal(key, (1000, 64))
    gram = features.T @ features + 1e-3 * jnp.eye(64)
    inverse = jnp.linalg.inv(gram)
    moments = features.T @ targets
    return inverse @ moments  # finding


def fit_at_once(key, targets):
    features = jax.random.normal(key, (1000, 64))
    return jnp.matmul(jnp.linalg.inv(features.T @ features), features.T @ targets)  # finding
