# source: google/flax#2251
# blind: fifth

import jax
import jax.numpy as jnp


def dropout(key, x, rate):
    keep = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(keep, x / (1.0 - rate), 0.0)


def layer(w, x, key, training):
    h = jnp.tanh(x @ w)
    if training:  # finding-also
        h = dropout(key, h, 0.1)
    return x + h


def forward(weights, x, key, training):
    block = jax.checkpoint(layer)  # finding
    for i, w in enumerate(weights):
        x = block(w, x, jax.random.fold_in(key, i), training)  # finding-also
    return x


def loss(weights, x, key):
    return jnp.mean(forward(weights, x, key, True) ** 2)


if __name__ == "__main__":
    weights = [jnp.eye(8)] * 4
    print(jax.grad(loss)(weights, jnp.ones((2, 8)), jax.random.key(0))[0].shape)
