# blind: nineteenth

import jax
import jax.numpy as jnp
import numpy as np


def clip(seed, frames, size):
    rng = np.random.default_rng(seed)
    video = np.full((frames, size, size), 100) + rng.integers(-3, 4, size=(frames, size, size))
    for t in range(frames):
        video[t, 6:12, 2 + 3 * t : 8 + 3 * t] = 220
    return video.astype(np.uint8)


@jax.jit
def motion(video):
    wide = video.astype(jnp.int16)
    return jnp.abs(wide[1:] - wide[:-1]).astype(jnp.uint8)


@jax.jit
def moving_columns(diff, threshold):
    active = (diff > threshold).any(axis=1)
    first = jnp.argmax(active, axis=1)
    last = active.shape[1] - 1 - jnp.argmax(active[:, ::-1], axis=1)
    return first, last


def main():
    video = jnp.asarray(clip(0, 6, 32))
    diff = motion(video)
    first, last = moving_columns(diff, 20)
    print("first", first.tolist(), "last", last.tolist(), "peak", int(diff.max()))


if __name__ == "__main__":
    main()
