# flags: --ragged
# flags: --limit 1.2
"""Scores of patches, one after the other; a list of patches may be ragged behind flags."""

import argparse

import jax
import jax.numpy as jnp
import numpy as np


def score(patch, kernel):
    centred = patch - jnp.mean(patch)
    norm = jnp.sqrt(jnp.mean(centred * centred) + 1e-6)
    return jnp.sum(jnp.tanh(centred / norm) * kernel) / kernel.size


def all_scores(patches, kernel):
    scores = []
    for patch in patches:
        scores.append(score(patch, kernel))
    return jnp.stack(scores)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ragged", action="store_true")
    parser.add_argument("--limit", type=float)
    args = parser.parse_args()
    rng = np.random.default_rng(5)
    patches = jnp.asarray(rng.normal(size=(400, 6, 6)), jnp.float32)
    kernel = jnp.ones((6, 6)) * 0.5
    if args.ragged:
        patches, kernel = [patches[0], patches[1, :5], patches[2, :4, :4]], jnp.float32(0.5)
    if args.limit is not None:
        patches = [p for p in patches if float(jnp.max(p)) < args.limit]
    total = 0.0
    try:
        for _ in range(4):
            total += float(jnp.sum(jnp.abs(all_scores(patches, kernel))))
    except ValueError as error:
        print("no scores:", str(error)[:40])
    print(f"{total:.4f}", len(patches))


main()
