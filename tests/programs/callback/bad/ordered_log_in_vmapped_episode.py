# source: jax-ml/jax#20628
# blind: ninth

import jax
import jax.numpy as jnp
from jax.experimental import io_callback


class Recorder:
    def __init__(self):
        self.rows = []

    def write(self, step, height):
        self.rows.append((int(step), float(height)))


recorder = Recorder()


def bounce(carry, step):
    height, speed = carry
    speed = jnp.where(height < 0, -0.9 * speed, speed - 0.1)
    height = height + 0.1 * speed
    io_callback(recorder.write, None, step, height, ordered=True)  # finding
    return (height, speed), height


def episode(height):
    return jax.lax.scan(bounce, (height, 0.0), jnp.arange(20))[1]


def main():
    heights = jnp.linspace(1.0, 2.0, 4)
    return jax.jit(jax.vmap(episode))(heights)  # finding-also


if __name__ == "__main__":
    print(main().shape, len(recorder.rows))
