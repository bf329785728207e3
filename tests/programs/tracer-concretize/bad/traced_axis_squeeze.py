# source: jax-ml/jax#12334

import jax
import jax.numpy as jnp


def drop_axis(x, axis):
    return jnp.squeeze(x, axis)  # finding


class Reader:
    def __init__(self, channel_axis):
        self.channel_axis = channel_axis
        self.process = jax.jit(self._process)

    def _process(self, batch, axis):
        scaled = batch.astype(jnp.float32) / 255.0
        return drop_axis(scaled, axis) - 0.5

    def __call__(self, batch):
        return self.process(batch, self.channel_axis)


images = jnp.ones((2, 28, 28, 1), jnp.uint8)
print(Reader(-1)(images).shape)
