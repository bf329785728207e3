# source: google-deepmind/tapnet#44
# blind: fifth

import jax
import jax.numpy as jnp
import numpy as np

VOCAB = {word: i for i, word in enumerate("the cat sat on a mat and then it slept well".split())}


def init(seed, dim=16):
    rng = np.random.default_rng(seed)
    return {
        "emb": jnp.asarray(rng.normal(size=(len(VOCAB), dim)), jnp.float32),
        "out": jnp.asarray(rng.normal(size=(dim, 2)), jnp.float32),
    }


@jax.jit
def classify(params, ids):
    h = params["emb"][ids].mean(axis=0)
    return jax.nn.softmax(jnp.tanh(h) @ params["out"])


def encode(sentence):
    return np.array([VOCAB[w] for w in sentence.split() if w in VOCAB], dtype=np.int32)


def score_corpus(params, sentences):
    scores = []
    for sentence in sentences:
        ids = encode(sentence)  # finding-also
        scores.append(classify(params, ids))  # finding
    return jnp.stack(scores)


if __name__ == "__main__":
    corpus = ["the cat sat", "the cat sat on a mat", "and then it slept", "it slept well on the mat"]
    print(score_corpus(init(0), corpus))
