# views and sets that have a length, lists, and what unpacks a generator

import jax
import jax.numpy as jnp


@jax.jit
def evaluate(params, batch):
    losses = {}
    for name, w in params.items():
        losses[name] = jnp.mean((batch["x"] @ w - batch[name]) ** 2)
    rows = jnp.stack(losses.values())
    return rows.sum() + jnp.array(list(losses.values())).sum() + jnp.concatenate(params.values()).sum()


def stacked(images):
    return jnp.stack([jax.nn.relu(image) for image in images]), jnp.array([*map(jnp.sum, images)])
