# blind: eleventh

"""Frames are uint8: their difference wraps."""
import jax
import jax.numpy as jnp
import numpy as np


class FrameBuffer:
    def __init__(self, height, width):
        self.frames = np.zeros((2, height, width), dtype=np.uint8)

    def push(self, frame):
        self.frames[0] = self.frames[1]
        self.frames[1] = frame

    def pair(self):
        return jnp.asarray(self.frames[0]), jnp.asarray(self.frames[1])


@jax.jit
def motion_energy(previous, current):
    delta = jnp.abs(current - previous)  # finding
    return delta.astype(jnp.float32).mean() / 255.0


def track(video):
    buffer = FrameBuffer(*video.shape[1:])
    energies = []
    for frame in video:
        buffer.push(frame)
        energies.append(motion_energy(*buffer.pair()))
    return jnp.stack(energies)


if __name__ == "__main__":
    video = np.random.default_rng(0).integers(0, 256, (5, 8, 8)).astype(np.uint8)
    print(track(video))
