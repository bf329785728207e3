# source: dwave-examples/image-segmentation#10
# blind: nineteenth

import jax
import jax.numpy as jnp
import numpy as np


def synthetic_clip(seed, frames, size):
    rng = np.random.default_rng(seed)
    background = rng.integers(90, 110, size=(size, size, 3))
    clip = np.repeat(background[None], frames, axis=0)
    clip = clip + rng.integers(-3, 4, size=clip.shape)
    for t in range(frames):
        x = 4 + 3 * t
        clip[t, 10:18, x : x + 6] = 220
    return clip.clip(0, 255).astype(np.uint8)


@jax.jit
def motion_energy(clip):
    delta = jnp.abs(clip[1:] - clip[:-1])  # finding
    return delta.astype(jnp.float32).mean(axis=-1)


@jax.jit
def motion_mask(energy, threshold):
    kernel = jnp.ones((3, 3)) / 9.0
    smooth = jax.vmap(lambda e: jax.scipy.signal.convolve2d(e, kernel, mode="same"))(energy)
    return smooth > threshold


def bounding_box(mask):
    rows = jnp.any(mask, axis=1)
    cols = jnp.any(mask, axis=0)
    r0, r1 = jnp.argmax(rows), rows.shape[0] - jnp.argmax(rows[::-1])
    c0, c1 = jnp.argmax(cols), cols.shape[0] - jnp.argmax(cols[::-1])
    return jnp.stack([r0, r1, c0, c1])


def main():
    clip = jnp.asarray(synthetic_clip(0, 8, 48))
    energy = motion_energy(clip)
    mask = motion_mask(energy, 12.0)
    boxes = jax.vmap(bounding_box)(mask)
    for t, (box, share) in enumerate(zip(boxes.tolist(), mask.mean(axis=(1, 2)).tolist())):
        print("frame", t, "box", box, "moving share", round(share, 3))


if __name__ == "__main__":
    main()
