# source: genjax-community/genjax#1179

import functools
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp


@dataclass
class ModelConfig:
    hidden: list = field(default_factory=lambda: [64, 64])
    out: int = 1


@functools.partial(jax.jit, static_argnames=("sizes",))
def init(key, sizes):
    layers = []
    for m, n in zip(sizes[:-1], sizes[1:]):
        key, sub = jax.random.split(key)
        layers.append(jax.random.normal(sub, (m, n)) / m**0.5)
    return layers


def build(config, in_dim, seed=0):
    sizes = [in_dim] + config.hidden + [config.out]
    return init(jax.random.key(seed), sizes=sizes)  # finding


layers = build(ModelConfig(), 8)
print([w.shape for w in layers], jnp.sum(layers[0]))
