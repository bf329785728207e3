# source: pytorch/xla#1522

import jax
import jax.numpy as jnp
import numpy as np

PAD = 0


def collate(sequences):
    """Pad to the longest sentence of this batch."""
    longest = max(len(s) for s in sequences)
    out = np.full((len(sequences), longest), PAD, dtype=np.int32)
    for row, seq in enumerate(sequences):
        out[row, : len(seq)] = seq
    return out


def batches(corpus, size):
    for start in range(0, len(corpus), size):
        yield collate(corpus[start : start + size])


@jax.jit
def sentence_loss(params, tokens):
    mask = tokens != PAD
    h = jnp.tanh(params["emb"][tokens])
    logits = h @ params["out"]
    logp = jax.nn.log_softmax(logits[:, :-1])
    nll = -jnp.take_along_axis(logp, tokens[:, 1:, None], -1)[..., 0]
    return jnp.sum(nll * mask[:, 1:]) / jnp.sum(mask[:, 1:])


def evaluate(params, corpus):
    total = 0.0
    for tokens in batches(corpus, 4):
        total += sentence_loss(params, tokens)  # finding
    return total


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    corpus = [rng.integers(1, 11, size=rng.integers(3, 40)) for _ in range(32)]
    params = {"emb": jnp.ones((11, 8)), "out": jnp.ones((8, 11))}
    print(evaluate(params, corpus))
