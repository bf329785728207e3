# source: jax-ml/jax#4416
# blind: first

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np


@jax.tree_util.register_dataclass
@dataclass
class Gaussian:
    mean: jax.Array
    scale: jax.Array

    def __post_init__(self):
        self.scale = np.asarray(self.scale)  # finding

    def log_prob(self, x):
        z = (x - self.mean) / self.scale
        return jnp.sum(-0.5 * z**2 - jnp.log(self.scale))


@jax.jit
def shifted(g, x):
    return Gaussian(g.mean + 1.0, g.scale).log_prob(x)


if __name__ == "__main__":
    print(shifted(Gaussian(jnp.zeros(2), jnp.ones(2)), jnp.ones(2)))
