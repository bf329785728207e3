# source: tensorflow/tensorflow#62075
# blind: first

import os

import numpy as np
from jax.config import config  # finding

config.update("jax_enable_x64", True)

import jax.numpy as jnp


def simulate(n):
    grid = jnp.asarray(np.linspace(0.0, 1.0, n))
    return jnp.sin(grid).sum()


if __name__ == "__main__":
    print(simulate(int(os.environ.get("N", "16"))))
