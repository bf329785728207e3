# fields that a helper of the project makes static

import dataclasses
import flax.struct
import jax
import jax.numpy as jnp

def field(*, default, metadata=None, pytree_node=None):
    if pytree_node is None:
        pytree_node = not isinstance(default, int)
    metadata = {} if metadata is None else dict(metadata)
    metadata.setdefault("pytree_node", pytree_node)
    return dataclasses.field(default=default, metadata=metadata)

class Settings(flax.struct.PyTreeNode):
    steps: int = field(default=8)
    rate: float = field(default=0.1)
    size: int = 3

@jax.jit
def train(settings, x):
    return jnp.zeros(settings.steps) * settings.rate + x

@jax.jit
def wrong(settings):
    return jnp.zeros(settings.size)  # finding

def main(x):
    return train(Settings(), x), wrong(Settings())
