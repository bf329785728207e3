# source: jax-ml/jax#5210
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def prepare(images, labels):
    x = images.astype(jnp.float32) / 127.5 - 1.0
    inverted = 255 - images
    signed = images.astype(jnp.int16) - 128
    return x, inverted.mean(), jnp.abs(signed), jax.nn.one_hot(labels - 1, 10)


def half(x, eps=1e-5):
    x = x.astype(jnp.float16)
    var = jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True)
    return x * jax.lax.rsqrt(var + 1e-8).astype(x.dtype) + eps


if __name__ == "__main__":
    print(prepare(jnp.zeros((2, 4), jnp.uint8), jnp.ones(2, jnp.uint8)), half(jnp.ones(4)))
