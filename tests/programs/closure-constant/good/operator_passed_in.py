# source: jax-ml/jax#10596
# blind: first

import jax
import jax.numpy as jnp


@jax.jit
def blur(transfer, image):
    return jnp.fft.ifft2(jnp.fft.fft2(image) * transfer).real


class Deconvolver:
    def __init__(self, psf, size):
        self.transfer = jnp.fft.fft2(psf, (size, size))

    def residual(self, image, data):
        return jnp.sum((blur(self.transfer, image) - data) ** 2)


if __name__ == "__main__":
    image = jnp.zeros((1024, 1024))
    print(Deconvolver(jnp.ones((9, 9)) / 81, 1024).residual(image, image))
