# source: google-deepmind/tapnet#44
# blind: eighth

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def embed(weights, frames):
    h = jnp.tanh(frames @ weights)
    return h.mean(axis=0)


def load_clips(count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        length = rng.integers(20, 200)
        yield rng.normal(size=(length, 12)).astype(np.float32)


def features(weights, clips):
    out = []
    for clip in clips:
        keep = np.abs(clip).max(axis=1) < 3.0
        out.append(embed(weights, clip[keep]))  # finding
    return jnp.stack(out)


if __name__ == "__main__":
    print(features(jnp.ones((12, 4)) * 0.1, load_clips(6)).shape)
