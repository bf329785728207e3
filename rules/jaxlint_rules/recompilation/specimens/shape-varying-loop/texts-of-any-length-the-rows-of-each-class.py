# texts of any length, the rows of each class

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def encode(line, vocabulary):
    ids = [vocabulary.get(word, 0) for word in line.split()]
    return jnp.asarray(ids)

def texts(lines, vocabulary, tokenizer):
    out = []
    for line in lines:
        ids = np.array([vocabulary[word] for word in line.split()])
        out.append(score(ids))  # finding
        out.append(score(jnp.array(tokenizer.encode(line))))  # finding
        out.append(score(encode(line, vocabulary)))  # finding
    return out

def classes(x, labels):
    return [score(x[labels == c]) for c in range(10)]  # finding

def rows(x, labels):
    for c in np.unique(labels):
        members = np.nonzero(labels == c)[0]
        print(score(x[members]), score(members))  # finding

def measured(batches):
    for values in batches:
        known = values[~np.isnan(values) & (values > 0)]
        score(known)  # finding
        score(np.where(np.isnan(values), 0.0, values))

def neighbours(positions, cutoff):
    return np.nonzero(np.abs(positions[:, None] - positions) < cutoff)

def at_most(positions, cutoff):
    return jnp.nonzero(positions < cutoff, size=8)

def simulate(frames, table):
    for positions in frames:
        senders, receivers = neighbours(positions, 0.3)
        score(senders)  # finding
        (first,) = at_most(positions, 0.3)
        score(first)
        left, right = neighbours(table, 0.3)
        score(left)

def clipped(clips, some):
    for clip in clips:
        keep = np.abs(clip).max(axis=1) < 3.0
        score(clip[keep])  # finding
        score(clip * keep[:, None])
        score(clip[some])
