# fields of dataclasses, modules and pytrees

import dataclasses

import chex
import equinox as eqx
import flax.linen as nn
import flax.struct
import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Config:
    scale: jax.Array = jnp.ones(3)  # finding
    key: jax.Array = dataclasses.field(default=jax.random.key(0))  # finding


@flax.struct.dataclass
class Stats:
    mean: jax.Array = jnp.zeros(3)  # finding
    count: int = 0


class Node(flax.struct.PyTreeNode):
    value: jax.Array = flax.struct.field(default=jnp.zeros(3))  # finding


class Scale(eqx.Module):
    weight: jax.Array = jnp.ones(())  # finding


class Shift(nn.Module):
    by: jax.Array = jnp.asarray([1.0, 2.0])  # finding


@chex.dataclass
class State:
    step: jax.Array = jnp.int32(0)  # finding
