# generators and views for functions that join arrays

import jax
import jax.numpy as jnp


@jax.jit
def evaluate(params, batch):
    losses = {}
    for name, w in params.items():
        losses[name] = jnp.mean((batch["x"] @ w - batch[name]) ** 2)
    return jnp.array(losses.values()).sum()  # finding


def stacked(images):
    return jnp.stack(jax.nn.relu(image) for image in images)  # finding


def joined(images):
    return jnp.concatenate(map(jax.nn.relu, images), axis=0)  # finding
