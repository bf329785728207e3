# many fields that a helper makes static by the type of their default
import dataclasses

import flax.struct
import jax
import numpy as np

def field(*, default=dataclasses.MISSING, metadata=None, pytree_node=None):
    if pytree_node is None and isinstance(default, int):
        pytree_node = False
    if pytree_node is None:
        pytree_node = True
    metadata = {} if metadata is None else dict(metadata)
    metadata.setdefault("pytree_node", pytree_node)
    return dataclasses.field(default=default, metadata=metadata)

class Settings(flax.struct.PyTreeNode):
    epochs: int = field(default=8)
    envs: int = field(default=64)
    steps: int = field(default=65)
    batches: int = field(default=16)
    seeds: int = field(default=128)
    every: int = field(default=4_096)
    total: int = field(default=131_072)
    rate: float = field(default=0.1)

class Algorithm(flax.struct.PyTreeNode):
    settings: Settings

    @jax.jit
    def train(self, x):
        return x * np.ceil(self.settings.total / self.settings.every) * self.settings.rate

Algorithm(Settings(every=2000)).train(1.0)
