# source: jax-ml/jax#10596
# blind: first
# missed: not found yet

import jax
import jax.numpy as jnp


class Deconvolver:
    def __init__(self, psf, size):
        self.transfer = jnp.fft.fft2(psf, (size, size))
        self.blur = jax.jit(self._blur)  # finding

    def _blur(self, image):
        return jnp.fft.ifft2(jnp.fft.fft2(image) * self.transfer).real  # finding-also

    def residual(self, image, data):
        return jnp.sum((self.blur(image) - data) ** 2)


if __name__ == "__main__":
    solver = Deconvolver(jnp.ones((9, 9)) / 81, 1024)
    image = jnp.zeros((1024, 1024))
    print(solver.residual(image, image))
