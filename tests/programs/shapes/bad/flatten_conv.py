import jax
import jax.numpy as jnp


def head(features, w):
    flat = features.reshape(features.shape[0], 7 * 7 * 32)  # finding
    return flat @ w


features = jax.random.normal(jax.random.key(1), (16, 7, 7, 64))
w = jnp.zeros((7 * 7 * 32, 10))
print(head(features, w).shape)
