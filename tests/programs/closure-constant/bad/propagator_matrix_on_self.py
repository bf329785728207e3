# source: jax-ml/jax#10596
# blind: third

import jax
import jax.numpy as jnp


class Propagator:
    """Free-space propagation over a fixed transfer function."""

    def __init__(self, size, distance):
        f = jnp.fft.fftfreq(size)
        fx, fy = jnp.meshgrid(f, f)
        self.transfer = jnp.exp(1j * distance * jnp.sqrt(1.0 - fx**2 - fy**2))
        self.forward = jax.jit(self._forward)  # finding

    def _forward(self, field):
        return jnp.fft.ifft2(jnp.fft.fft2(field) * self.transfer)  # finding-also

    def intensity(self, field):
        return jnp.abs(self.forward(field)) ** 2


def main():
    prop = Propagator(2048, distance=3.0)
    field = jnp.ones((2048, 2048), complex)
    for _ in range(2):
        print(prop.intensity(field).mean())


if __name__ == "__main__":
    main()
