# source: pytorch/xla#1522

import jax
import jax.numpy as jnp
import numpy as np

MAX_LEN = 40


def collate(sequences, size):
    out = np.zeros((size, MAX_LEN), np.int32)
    for row, seq in enumerate(sequences):
        out[row, : min(len(seq), MAX_LEN)] = seq[:MAX_LEN]
    return out


def batches(corpus, size):
    for start in range(0, len(corpus), size):
        yield collate(corpus[start : start + size], size)


@jax.jit
def mean_embedding(emb, tokens):
    mask = (tokens > 0)[..., None]
    return jnp.sum(emb[tokens] * mask, 1) / jnp.maximum(mask.sum(1), 1)


def encode(emb, corpus, size=4):
    return jnp.concatenate([mean_embedding(emb, t) for t in batches(corpus, size)])


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    corpus = [rng.integers(1, 9, size=rng.integers(2, 60)) for _ in range(12)]
    print(encode(jnp.eye(9), corpus).shape)
