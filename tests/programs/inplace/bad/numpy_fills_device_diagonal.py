# source: jax-ml/jax#2680
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def similarity(x):
    x = x / jnp.linalg.norm(x + 1e-6, axis=-1, keepdims=True)
    return x @ x.T


def neighbours(x, k):
    scores = similarity(x)
    np.fill_diagonal(scores, -np.inf)  # finding
    return np.argsort(-scores, axis=-1)[:, :k]


if __name__ == "__main__":
    print(neighbours(jnp.ones((4, 3)), 2))
