# source: jax-ml/jax#10596
# blind: ninth

import jax
import jax.numpy as jnp


class Propagator:
    def __init__(self, n, wavelength, distance):
        freq = jnp.fft.fftfreq(n)
        fx, fy = jnp.meshgrid(freq, freq)
        self.transfer = jnp.exp(-1j * jnp.pi * wavelength * distance * (fx**2 + fy**2))
        self.run = jax.jit(self._run)  # finding-also

    def _run(self, field):
        return jnp.fft.ifft2(jnp.fft.fft2(field) * self.transfer)  # finding


def main():
    propagate = Propagator(2048, 0.5, 10.0)
    field = jnp.ones((2048, 2048), jnp.complex64)
    for _ in range(3):
        field = propagate.run(field)
    return jnp.abs(field).max()


if __name__ == "__main__":
    print(main())
