# blind: seventeenth

"""Detect motion between frames of an 8-bit video."""
import jax
import jax.numpy as jnp
import numpy as np


def load_video(frames=16, size=64, seed=0):
    rng = np.random.default_rng(seed)
    background = rng.integers(60, 200, size=(size, size), dtype=np.uint8)
    video = np.repeat(background[None], frames, axis=0)
    for t in range(frames):
        video[t, 10 + t : 20 + t, 10 + t : 20 + t] = 30
    return video


@jax.jit
def motion(video):
    change = jnp.abs(video[1:] - video[:-1])  # finding
    moved = change > 25
    return moved.mean(axis=(1, 2)), change.max()


def main():
    video = jnp.asarray(load_video())
    fraction, largest = motion(video)
    print("moved", fraction[:4], "largest", largest)


if __name__ == "__main__":
    main()
