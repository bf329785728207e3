# many runs in training mode, to measure what the model does not know
import jax
import jax.numpy as jnp


def network(w, x, key, is_training):
    if is_training:
        x = x * jax.random.bernoulli(key, 0.8, x.shape) / 0.8
    return x @ w


def evaluate_uncertainty(w, x, key, is_training):
    return jnp.mean(network(w, x, key, is_training))


w, x, key = jnp.ones((3, 2)), jnp.ones((4, 3)), jax.random.key(0)
spread = [evaluate_uncertainty(w, x, k, is_training=True) for k in jax.random.split(key, 10)]
