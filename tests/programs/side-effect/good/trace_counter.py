# blind: twenty-first

import collections

import jax
import jax.numpy as jnp
import numpy as np

BUCKETS = (8, 16, 32, 64)


class BucketedScorer:
    def __init__(self, key, vocab=100, dim=16):
        self.table = 0.1 * jax.random.normal(key, (vocab, dim))
        self.traces = collections.Counter()
        self._score = jax.jit(self._score_impl)

    def _score_impl(self, table, tokens, mask):
        self.traces[tokens.shape[0]] += 1
        vectors = table[tokens] * mask[:, None]
        pooled = vectors.sum(axis=0) / jnp.maximum(mask.sum(), 1.0)
        return jnp.linalg.norm(pooled)

    def score(self, tokens):
        size = next(b for b in BUCKETS if b >= len(tokens))
        padded = np.zeros((size,), np.int32)
        padded[:len(tokens)] = tokens
        mask = (np.arange(size) < len(tokens)).astype(np.float32)
        return self._score(self.table, padded, mask)


def documents(n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield rng.integers(0, 100, size=rng.integers(1, 65))


def main():
    scorer = BucketedScorer(jax.random.key(0))
    docs = list(documents(300))
    scores = np.asarray(jnp.stack([scorer.score(d) for d in docs]))
    table = np.asarray(scorer.table)
    expected = np.array([np.linalg.norm(table[d].mean(axis=0)) for d in docs])
    print("compiled buckets", dict(scorer.traces), "mean score", float(scores.mean()))
    assert all(count == 1 for count in scorer.traces.values())
    assert np.allclose(scores, expected, atol=1e-5)


if __name__ == "__main__":
    main()
