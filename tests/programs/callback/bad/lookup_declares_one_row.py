# source: jax-ml/jax#6301
# blind: fourth
# missed: how many rows a table gives for an index is in the shape of the index

import jax
import jax.numpy as jnp
import numpy as np


class FeatureStore:
    """A table that stays in host memory."""

    def __init__(self, n_rows, dim):
        self.table = np.random.default_rng(0).normal(size=(n_rows, dim)).astype(np.float32)
        self.dim = dim

    def _fetch(self, ids):
        return self.table[np.asarray(ids)]

    def lookup(self, ids):
        spec = jax.ShapeDtypeStruct((self.dim,), jnp.float32)
        return jax.pure_callback(self._fetch, spec, ids)  # finding


def make_score(store):
    @jax.jit
    def score(w, ids):
        return store.lookup(ids) @ w  # finding-also

    return score


def main():
    store = FeatureStore(1000, 8)
    score = make_score(store)
    print(score(jnp.ones(8), jnp.array([1, 5, 7])))


if __name__ == "__main__":
    main()
