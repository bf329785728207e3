# blind: fifth

import jax
import jax.numpy as jnp

STENCIL = jnp.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]])


def make_filter(weights):
    taps = jnp.asarray(weights)

    @jax.jit
    def apply(signal):
        return jnp.convolve(signal, taps, mode="same")

    return apply


@jax.jit
def sharpen(image):
    return image - 0.2 * jax.scipy.signal.convolve2d(image, STENCIL, mode="same")


def main():
    smooth = make_filter([0.25, 0.5, 0.25])
    signal = smooth(jnp.sin(jnp.linspace(0.0, 6.0, 200)))
    image = sharpen(jnp.outer(signal, signal))
    print(image.mean())


if __name__ == "__main__":
    main()
