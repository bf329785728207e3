# source: patrick-kidger/equinox#640
# blind: ninth

import jax
import jax.numpy as jnp
import numpy as np


def collate(sentences):
    longest = max(len(s) for s in sentences)
    out = np.zeros((len(sentences), longest), np.int32)
    for row, sentence in enumerate(sentences):
        out[row, : len(sentence)] = sentence
    return jnp.asarray(out)


@jax.jit
def score(table, tokens):
    mask = tokens > 0
    return jnp.sum(jnp.where(mask[..., None], table[tokens], 0.0)) / mask.sum()


def evaluate(table, corpus, size):
    total = 0.0
    for start in range(0, len(corpus), size):
        total += score(table, collate(corpus[start : start + size]))  # finding
    return total


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    corpus = [list(rng.integers(1, 50, rng.integers(3, 30))) for _ in range(64)]
    print(evaluate(jnp.ones((50, 8)), corpus, 4))
