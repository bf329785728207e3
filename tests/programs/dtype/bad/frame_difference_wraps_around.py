# source: google-deepmind/dm_control#300
# blind: fifth

import jax
import jax.numpy as jnp


def decode(raw, height, width):
    return jnp.frombuffer(raw, dtype=jnp.uint8).reshape(height, width)


@jax.jit
def motion_mask(previous, current, threshold):
    difference = jnp.abs(current - previous)  # finding
    return difference > threshold


def moving_pixels(frames, height, width, threshold=12):
    first = decode(frames[0], height, width)
    counts = []
    for raw in frames[1:]:
        second = decode(raw, height, width)
        counts.append(motion_mask(first, second, threshold).sum())
        first = second
    return jnp.stack(counts)


if __name__ == "__main__":
    print(moving_pixels([bytes([10] * 16), bytes([9] * 16)], 4, 4))
