# blind: fifth

import jax
import jax.numpy as jnp


def decode(raw, height, width):
    return jnp.frombuffer(raw, dtype=jnp.uint8).reshape(height, width)


@jax.jit
def motion_mask(previous, current, threshold):
    difference = jnp.abs(current.astype(jnp.int16) - previous.astype(jnp.int16))
    return difference > threshold


def class_histogram(labels, confidence, num_classes):
    votes = jnp.zeros(num_classes, confidence.dtype)
    return votes.at[labels].add(confidence)


if __name__ == "__main__":
    a, b = (decode(bytes([v] * 16), 4, 4) for v in (10, 9))
    print(motion_mask(a, b, 12).sum())
    print(class_histogram(jnp.array([0, 1, 1]), jnp.array([0.4, 0.9, 0.8]), 3))
