# source: jax-ml/jax#3356
# blind: first

import math

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special


def positions(length, dim):
    angle = np.arange(length)[:, None] / 10000 ** (np.arange(0, dim, 2) / dim)
    return np.concatenate([np.sin(angle), np.cos(angle)], -1).astype(np.float32)


@jax.jit
def embed(x):
    scale = math.sqrt(x.shape[-1])
    table = positions(*x.shape[-2:])
    gain = np.float32(special.erf(0.5))
    if np.issubdtype(x.dtype, np.floating) and np.ndim(x) == 2:
        x = x * scale
    return gain * x + table


def evaluate(batch):
    out = np.asarray(embed(batch))
    return special.erf(out).mean(), np.linalg.norm(out)


if __name__ == "__main__":
    print(evaluate(jnp.ones((4, 6))))
