# fields that a frozen class makes anew as it is made
from dataclasses import dataclass
from typing import Sequence

import jax.numpy as jnp

@dataclass(frozen=True)
class Categorical:
    probs: Sequence

    def __post_init__(self):
        probs = jnp.asarray(self.probs)
        object.__setattr__(self, "probs", probs / jnp.sum(probs))

    def entropy(self):
        return -jnp.sum(self.probs * jnp.log(self.probs))

print(Categorical([0.25, 0.75]).entropy())
