# source: jax-ml/jax#21300

import jax
import jax.numpy as jnp
import numpy as np

VOCAB, DIM = 50_000, 128
EMBEDDINGS = jnp.asarray(np.random.default_rng(0).normal(size=(VOCAB, DIM)), jnp.float32)


def normalise(x):
    return x / jnp.linalg.norm(x, axis=-1, keepdims=True)


@jax.jit
def nearest(query):
    scores = normalise(EMBEDDINGS) @ normalise(query)  # finding
    return jax.lax.top_k(scores, 5)


def main():
    query = EMBEDDINGS[17] + 0.1
    values, indices = nearest(query)
    print(values, indices)


if __name__ == "__main__":
    main()
