# the default of a field

import dataclasses
from functools import partial
import jax
import jax.numpy as jnp

@dataclasses.dataclass(frozen=True)
class Config:
    hidden: list = dataclasses.field(default_factory=lambda: [8, 8])
    names: dict = dataclasses.field(default_factory=dict)
    shape: tuple = dataclasses.field(default=(2, 3))

@partial(jax.jit, static_argnames="sizes")
def zeros(sizes):
    return jnp.zeros(sizes)

config = Config()

def build():
    a = zeros(sizes=[4] + config.hidden)  # finding
    b = zeros(sizes=config.names)  # finding
    return a, b, zeros(sizes=(4, *config.hidden)), zeros(sizes=config.shape)
