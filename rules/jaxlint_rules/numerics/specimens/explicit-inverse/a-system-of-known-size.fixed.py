# the matrix is one matrix of known size, so the product can be rewritten
import jax
import jax.numpy as jnp


def fit(key, targets):
    features = jax.random.normal(key, (1000, 64))
    gram = features.T @ features + 1e-3 * jnp.eye(64)
    moments = features.T @ targets
    return jnp.linalg.solve(gram, moments)


def fit_at_once(key, targets):
    features = jax.random.normal(key, (1000, 64))
    return jnp.linalg.solve(features.T @ features, features.T @ targets)
