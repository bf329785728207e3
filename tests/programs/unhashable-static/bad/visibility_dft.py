# source: jax-ml/jax#5186
# blind: nineteenth

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnums=(1, 2))  # finding-also
def matrix_dft(plane, field_of_view, npix):
    n = plane.shape[0]
    x = (jnp.arange(n) - (n - 1) / 2) / n
    u = (jnp.arange(npix) - (npix - 1) / 2) * field_of_view / npix
    kernel = jnp.exp(-2j * jnp.pi * jnp.outer(u, x))
    return kernel @ plane @ kernel.T / n


def circular_aperture(n, radius, obstruction=0.0):
    grid = jnp.linspace(-1.0, 1.0, n)
    rho = jnp.hypot(grid[:, None], grid[None, :])
    return ((rho <= radius) & (rho >= obstruction)).astype(jnp.float32)


def zernike_phase(coeffs, n):
    grid = jnp.linspace(-1.0, 1.0, n)
    x, y = grid[None, :], grid[:, None]
    basis = jnp.stack([x + 0 * y, y + 0 * x, 2 * (x ** 2 + y ** 2) - 1, x ** 2 - y ** 2, 2 * x * y])
    return jnp.tensordot(coeffs, basis, axes=1)


def required_pixels(field_of_view, oversample):
    return jnp.ceil(jnp.asarray(field_of_view) * oversample).astype(jnp.int32)  # finding-also


def psf(coeffs, n=96, field_of_view=16.0, oversample=4):
    aperture = circular_aperture(n, 0.9, 0.2)
    wavefront = aperture * jnp.exp(1j * zernike_phase(coeffs, n))
    npix = required_pixels(field_of_view, oversample)  # finding-also
    image = jnp.abs(matrix_dft(wavefront, field_of_view, npix)) ** 2  # finding
    return image / image.sum()


def main():
    key = jax.random.key(0)
    flat = psf(jnp.zeros(5))
    strehl = []
    for k in jax.random.split(key, 4):
        coeffs = 0.3 * jax.random.normal(k, (5,))
        strehl.append(psf(coeffs).max() / flat.max())
    print("strehl ratios", [round(float(s), 3) for s in strehl])


if __name__ == "__main__":
    main()
