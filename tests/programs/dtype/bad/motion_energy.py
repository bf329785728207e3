# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np


class ClipReader:
    def __init__(self, num_clips, frames=8, size=24, seed=0):
        self.rng = np.random.default_rng(seed)
        self.num_clips = num_clips
        self.frames = frames
        self.size = size

    def __iter__(self):
        for _ in range(self.num_clips):
            base = self.rng.integers(60, 180, size=(1, self.size, self.size, 3))
            jitter = self.rng.integers(-3, 4, size=(self.frames, self.size, self.size, 3))
            yield (base + jitter).astype(np.uint8)


def motion_energy(clip, threshold=16):
    delta = clip[1:] - clip[:-1]  # finding-also
    changed = jnp.abs(delta) > threshold  # finding
    return changed.mean(axis=(1, 2, 3))


def brightness(clip):
    return clip.astype(jnp.float32).mean(axis=(1, 2, 3)) / 255.0


@jax.jit
def describe(clips):
    motion = jax.vmap(motion_energy)(clips)
    light = jax.vmap(brightness)(clips)
    return {
        "motion_mean": motion.mean(axis=1),
        "motion_peak": motion.max(axis=1),
        "brightness": light.mean(axis=1),
    }


def select_static(features, threshold=0.05):
    return np.flatnonzero(np.asarray(features["motion_mean"]) < threshold)


def main():
    clips = jnp.stack([jnp.asarray(c) for c in ClipReader(12)])
    features = describe(clips)
    print("clips", clips.shape, clips.dtype)
    print("mean motion", float(features["motion_mean"].mean()))
    print("static clips", len(select_static(features)), "of", clips.shape[0])


if __name__ == "__main__":
    main()
