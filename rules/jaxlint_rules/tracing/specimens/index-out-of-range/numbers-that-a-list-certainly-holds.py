# numbers that a list certainly holds

import jax
import jax.numpy as jnp
import numpy as np

LETTERS = 4
START, END = LETTERS, LETTERS + 1

def spelled(word):
    return np.array([START, *[ord(letter) - 97 for letter in word], END], np.int32)

def padded(word, size):
    ids = [START] + [ord(letter) - 97 for letter in word]
    return np.array((ids + [0] * (size - len(ids)))[:size], np.int32)

def tail(word):
    ids = [START] + [ord(letter) - 97 for letter in word]
    return np.array(ids[1:], np.int32)

def ordered(word):
    ids = [START] + [ord(letter) - 97 for letter in word]
    ids.sort()
    return np.array(ids[:2], np.int32)

def replaced(word):
    ids = [START] + [ord(letter) - 97 for letter in word]
    ids[0] = 0
    return np.array(ids, np.int32)

@jax.jit
def embed(table, ids):
    return table[ids].sum(-1)  # finding

@jax.jit
def embed_large(table, ids):
    return table[ids].sum(-1)

@jax.jit
def embed_letters(table, ids):
    return table[ids].mean(-1)

small, large = jnp.arange(8.0).reshape(LETTERS, 2), jnp.ones((LETTERS + 2, 2))
print(embed(small, jnp.asarray(spelled("abc"))), embed_large(large, spelled("abc")))
print(embed(small, np.stack([padded("abc", 6), padded("d", 6)])))
for ids in (tail("abc"), ordered("abc"), replaced("abc")):
    print(embed_letters(small, ids))
print(small[tail("abc")], small[ordered("abc")], small[replaced("ab")], small[spelled("ab")])  # finding
