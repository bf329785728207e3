# factories, converters, class variables, named tuples and ordinary classes

import dataclasses
from typing import ClassVar, NamedTuple

import equinox as eqx
import flax.struct
import jax
import jax.numpy as jnp


@flax.struct.dataclass
class Stats:
    mean: jax.Array = flax.struct.field(default_factory=lambda: jnp.zeros(3))
    scale: float = float(jnp.pi)
    table: ClassVar[jax.Array] = jnp.eye(3)


class Carry(NamedTuple):
    total: jax.Array = jnp.zeros(())


class Plain:
    weight: jax.Array = jnp.ones(3)


class Scale(eqx.Module):
    weight: jax.Array = eqx.field(converter=jnp.asarray, default=1.0)


@dataclasses.dataclass
class Config:
    size: int = 3
    table = jnp.eye(3)

    def start(self, x: jax.Array = jnp.zeros(3)):
        y: jax.Array = jnp.ones(self.size)
        return x + y
