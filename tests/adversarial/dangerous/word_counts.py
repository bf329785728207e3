# function: evidence
# arguments: counts=numpy, prior=array, document=numpy
# refused: `counts * counts` at word_counts.py:MARKED may compute integers
# flags: --copies 90000

"""Naive Bayes from word counts; counting is done in NumPy with 64 bits."""

import argparse

import jax.numpy as jnp
import numpy as np


def evidence(counts, prior, document):
    squares = counts * counts  # finding
    weight = squares / (squares.sum(axis=1, keepdims=True) + 1)
    logits = jnp.log(jnp.asarray(weight) + 1e-6)
    picked = logits * document
    smooth = jnp.tanh(picked) * 0.1 + picked
    return jnp.sum(smooth, axis=1) + jnp.log(prior)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--copies", type=int, default=1)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 40, (4, 200)) * args.copies
    prior = np.full(4, 0.25)
    right = 0
    for _ in range(400):
        label = int(rng.integers(4))
        document = rng.poisson(counts[label] / counts[label].sum() * 60)
        scores = evidence(counts, prior, document)
        right += int(jnp.argmax(scores)) == label
        prior = 0.99 * prior + 0.01 * np.eye(4)[label]
    print("right", right, counts.dtype, f"{prior.max():.3f}")
    print(np.round(np.asarray(scores), 2))


if __name__ == "__main__":
    main()
