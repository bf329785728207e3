# source: jax-ml/jax#10596
# blind: fifth

import jax
import jax.numpy as jnp


def transfer_function(n, pitch, wavelength, distance):
    f = jnp.fft.fftfreq(n, pitch)
    fx, fy = jnp.meshgrid(f, f)
    kz = jnp.sqrt(jnp.maximum(0.0, wavelength**-2 - fx**2 - fy**2))
    return jnp.exp(2j * jnp.pi * kz * distance)


def make_propagator(n, pitch=8e-6, wavelength=633e-9, distance=0.1):
    kernel = transfer_function(n, pitch, wavelength, distance)

    @jax.jit
    def propagate(field):
        return jnp.fft.ifft2(jnp.fft.fft2(field) * kernel)  # finding

    return propagate


def main(n=2048):
    propagate = make_propagator(n)
    field = jnp.zeros((n, n), jnp.complex64).at[n // 2, n // 2].set(1.0)
    for _ in range(2):
        field = propagate(field)
    print(jnp.abs(field).max())


if __name__ == "__main__":
    main()
