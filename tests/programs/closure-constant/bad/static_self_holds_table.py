# source: google/jax#4572
# blind: first

import functools

import jax
import jax.numpy as jnp
import numpy as np


class Retriever:
    """Nearest neighbours over a fixed index of embeddings."""

    def __init__(self, n_docs=200_000, dim=64):
        rng = np.random.default_rng(0)
        self.index = jnp.asarray(rng.standard_normal((n_docs, dim), dtype=np.float32))

    @functools.partial(jax.jit, static_argnums=(0, 2))  # finding-also
    def search(self, queries, k):  # finding-also
        scores = queries @ self.index.T  # finding
        return jax.lax.top_k(scores, k)


if __name__ == "__main__":
    print(Retriever().search(jnp.ones((2, 64)), 3)[1].shape)
