# batches padded to one length, or to a few, episodes of one length

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def fixed(texts, size, length):
    out = np.zeros((size, length))
    for row, text in enumerate(texts):
        out[row, : len(text)] = text[:length]
    return out

def bucketed(texts, size):
    longest = 64 * -(-max(len(text) for text in texts) // 64)
    return np.zeros((size, longest))

def padded(corpus):
    return np.zeros((len(corpus), max(len(text) for text in corpus)))

def whole(corpus, size):
    longest = max(len(text) for text in corpus)
    for start in range(0, len(corpus), size):
        out = np.zeros((size, longest))
        yield out

def rollout(env, n):
    seen = []
    for _ in range(n):
        seen.append(env.step())
    return np.stack(seen)

def train(corpus, env, n):
    for start in range(0, len(corpus), 8):
        score(fixed(corpus[start : start + 8], 8, 100))
        texts = bucketed(corpus[start : start + 8], 8)
        score(texts)
    for batch in whole(corpus, 8):
        score(batch)
    for _ in range(n):
        seen = rollout(env, 100)
        score(seen)
        score(padded(corpus))
