# source: fattorib/ZeRO-transformer#13
# blind: seventh

"""A convolutional network whose few stages differ in width."""

import flax.linen as nn
import jax
import jax.numpy as jnp

WIDTHS = (16, 32, 64, 128)


class Backbone(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in WIDTHS:
            x = nn.Conv(width, (3, 3), strides=(2, 2))(x)
            x = nn.gelu(nn.LayerNorm()(x))
        return nn.Dense(10)(x.mean(axis=(1, 2)))


@jax.jit
def logits(params, images):
    return Backbone().apply(params, images)


def main():
    images = jnp.ones((2, 32, 32, 3))
    params = Backbone().init(jax.random.key(0), images)
    print(logits(params, images).shape)


if __name__ == "__main__":
    main()
