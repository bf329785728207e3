# source: jax-ml/jax#3478
# blind: second

import jax
import jax.numpy as jnp
from flax import nnx


class Upsampler(nnx.Module):
    def __init__(self, channels, *, rngs):
        self.conv = nnx.Conv(channels, channels, (3, 3), rngs=rngs)

    def __call__(self, x, factor, method):
        b, h, w, c = x.shape
        x = jax.image.resize(x, (b, h * factor, w * factor, c), method)
        return self.conv(x)


@nnx.jit
def render(model, x, factor, method="linear"):
    out = model(x, factor, method)  # finding-also
    return nnx.sigmoid(out)


def super_resolve(model, images, factor=2):
    sharp = render(model, images, factor, "cubic")  # finding
    return jnp.clip(sharp, 0.0, 1.0)


def main():
    model = Upsampler(3, rngs=nnx.Rngs(0))
    print(super_resolve(model, jnp.ones((1, 8, 8, 3))).shape)


if __name__ == "__main__":
    main()
