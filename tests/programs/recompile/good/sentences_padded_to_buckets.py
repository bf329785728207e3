# blind: fifth

import jax
import jax.numpy as jnp
import numpy as np

VOCAB = {word: i + 1 for i, word in enumerate("the cat sat on a mat and then it slept well".split())}
BUCKETS = (4, 8, 16)


@jax.jit
def classify(params, ids):
    mask = (ids > 0)[:, None]
    h = jnp.sum(params["emb"][ids] * mask, axis=0) / jnp.maximum(mask.sum(), 1)
    return jax.nn.softmax(jnp.tanh(h) @ params["out"])


def encode(sentence):
    ids = [VOCAB[w] for w in sentence.split() if w in VOCAB]
    length = next(b for b in BUCKETS if b >= len(ids))
    padded = np.zeros(length, dtype=np.int32)
    padded[: len(ids)] = ids
    return padded


def score_corpus(params, sentences):
    return jnp.stack([classify(params, encode(sentence)) for sentence in sentences])


if __name__ == "__main__":
    params = {"emb": jnp.ones((len(VOCAB) + 1, 16)), "out": jnp.ones((16, 2))}
    print(score_corpus(params, ["the cat sat", "the cat sat on a mat", "it slept well on the mat"]))
