# source: probml/dynamax#448
# blind: third

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters import xla


@dataclasses.dataclass
class ParameterProperties:
    trainable: bool = True
    constrainer: Any = None


class Quantity:
    def __init__(self, value, unit):
        self.value = jnp.asarray(value)
        self.unit = unit

    def __jax_array__(self):
        return self.value


def register(cls, to_array):
    xla.pytype_aval_mappings[cls] = lambda q: jax.core.get_aval(to_array(q))  # finding


register(Quantity, lambda q: q.value)

if __name__ == "__main__":
    print(jnp.sum(jax.jit(lambda x: x * 2)(Quantity([1.0, 2.0], "m"))))
