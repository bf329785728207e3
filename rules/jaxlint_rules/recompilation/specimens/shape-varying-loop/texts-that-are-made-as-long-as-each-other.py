# texts that are made as long as each other

import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def score(x):
    return jnp.tanh(x).sum()

def padded(line, vocabulary, length):
    ids = [vocabulary.get(word, 0) for word in line.split()]
    ids.extend([0] * (length - len(ids)))
    return np.array(ids)

def filled(line, vocabulary, length):
    ids = [vocabulary.get(word, 0) for word in line.split()]
    ids += [0] * (length - len(ids))
    return np.array(ids)

def first_words(line, vocabulary, length):
    return np.array([vocabulary.get(word, 0) for word in line.split()][:length])

def named(vocabulary):
    return np.array([vocabulary[word] for word in "one two three".split()])

def texts(lines, vocabulary):
    for line in lines:
        score(padded(line, vocabulary, 64))
        score(filled(line, vocabulary, 64))
        score(first_words(line, vocabulary, 8))
        score(named(vocabulary))
        ids = [vocabulary.get(word, 0) for word in line.split()]
        ids += [0] * (64 - len(ids))
        score(np.array(ids))
