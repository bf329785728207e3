# blind: ninth

import jax
import jax.numpy as jnp


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
    jax.debug.callback(recorder.write, step, height)
    return (height, speed), height


@jax.jit
def episodes(heights):
    run = lambda h: jax.lax.scan(bounce, (h, 0.0), jnp.arange(20))[1]
    return jax.vmap(run)(heights)


if __name__ == "__main__":
    print(episodes(jnp.linspace(1.0, 2.0, 4)).shape)
