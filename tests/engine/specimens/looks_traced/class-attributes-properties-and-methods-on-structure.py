# class attributes, properties and methods on structure
import jax
import jax.numpy as jnp
from dataclasses import dataclass, field

@dataclass(frozen=True)
class Config:
    width: int = 4
    layers: tuple = (1, 2)
    dropout: float = 0.0
    extra: dict = field(default_factory=dict)

    @property
    def deep(self):
        return len(self.layers) > 1

    def enabled(self, name):
        return bool(self.extra.get(name, False))

class Model:
    scale = 2.0

    def __init__(self, config):
        self.config = config
        self.apply = jax.jit(self._apply)

    @property
    def is_wide(self):
        return self.config.width > 2

    def _apply(self, x):
        if self.config.deep and self.is_wide and not self.config.enabled("slow"):
            x = x * self.scale
        if self.config.dropout > 0:
            raise NotImplementedError
        for layer in self.config.layers:
            x = x + (layer if layer > 1 else 0)
        return x

Model(Config()).apply(jnp.ones(3))
