# blind: twentieth

"""Streaming anomaly scores over a sliding window of sensor readings."""
from functools import partial

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax


@struct.dataclass  # finding-also
class Detector:
    buffer: jax.Array
    cursor: jax.Array
    window: int  # finding
    threshold: float = 3.0

    @classmethod
    def create(cls, capacity, channels, window, threshold=3.0):
        return cls(
            buffer=jnp.zeros((capacity, channels)),
            cursor=jnp.zeros((), jnp.int32),
            window=window,
            threshold=threshold,
        )


def push(det, reading):
    slot = det.cursor % det.buffer.shape[0]
    return det.replace(buffer=det.buffer.at[slot].set(reading), cursor=det.cursor + 1)


def recent(det):
    """The last `window` readings, oldest first."""
    back = jnp.arange(det.window)[::-1]  # finding-also
    return det.buffer[(det.cursor - 1 - back) % det.buffer.shape[0]]


def score(det, reading):
    past = recent(det)  # finding-also
    spread = past.std(axis=0) + 1e-6
    z = jnp.abs(reading - past.mean(axis=0)) / spread
    return jnp.max(z)


@partial(jax.jit, donate_argnums=0)  # finding-also
def consume(det, readings):
    """Feeds a chunk of readings through the detector."""

    def body(det, reading):
        z = score(det, reading)
        alarm = (z > det.threshold) & (det.cursor >= det.window)
        return push(det, reading), (z, alarm)

    return lax.scan(body, det, readings)


def main():
    det = Detector.create(capacity=256, channels=3, window=64, threshold=4.0)
    key = jax.random.key(0)
    total = 0
    for chunk in range(4):
        key, sub = jax.random.split(key)
        readings = jax.random.normal(sub, (128, 3))
        readings = readings.at[100].add(10.0 * (chunk % 2))
        det, (z, alarm) = consume(det, readings)
        total = total + alarm.sum()
    print("alarms", int(total), "last score", float(z[-1]))


if __name__ == "__main__":
    main()
