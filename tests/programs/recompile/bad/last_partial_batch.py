# source: google/flax#600
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def eval_step(params, images):
    return (images.reshape(images.shape[0], -1) @ params).argmax(-1)


def batches(array, size):
    for start in range(0, len(array), size):
        yield array[start : start + size]


def cut(array, bounds):
    pieces = []
    for lo, hi in zip(bounds, bounds[1:]):
        pieces.append(array[lo:hi])
    return pieces


def per_document(params, pages, bounds):
    return [eval_step(params, piece) for piece in cut(pages, bounds)]  # finding


if __name__ == "__main__":
    pages = np.ones((40, 4, 4), np.float32)
    print(len(per_document(jnp.ones((16, 3)), pages, [0, 3, 10, 12, 40])))
