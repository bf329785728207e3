# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np


def synthetic_clip(rng, frames=6, size=16, jitter=3):
    base = rng.integers(60, 180, size=(1, size, size, 1))
    noise = rng.integers(-jitter, jitter + 1, size=(frames, size, size, 1))
    return (base + noise).astype(np.uint8)


def motion(clip):
    wide = clip.astype(jnp.int16)
    delta = jnp.abs(wide[1:] - wide[:-1])
    return delta.mean(axis=(1, 2, 3), dtype=jnp.float32)


@jax.jit
def describe(clips):
    moving = jax.vmap(motion)(clips)
    brightness = clips.mean(axis=(1, 2, 3, 4), dtype=jnp.float32) / 255.0
    return moving.max(axis=1), brightness


def pick_static(motion_peak, limit):
    return np.flatnonzero(np.asarray(motion_peak) < limit)


def main():
    rng = np.random.default_rng(0)
    quiet = [synthetic_clip(rng, jitter=2) for _ in range(4)]
    busy = [synthetic_clip(rng, jitter=40) for _ in range(4)]
    clips = np.stack(quiet + busy)
    peak, brightness = describe(jnp.asarray(clips))
    static = pick_static(peak, 5.0)
    expected = np.abs(np.diff(clips.astype(np.int64), axis=1)).mean(axis=(2, 3, 4)).max(axis=1)
    print("static clips", static, "brightness", float(brightness.mean()))
    assert np.allclose(np.asarray(peak), expected, rtol=1e-4)
    assert list(static) == [0, 1, 2, 3]


if __name__ == "__main__":
    main()
