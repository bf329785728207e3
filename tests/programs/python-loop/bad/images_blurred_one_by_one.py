# source: jax-ml/jax#25703
# blind: fifth

import jax
import jax.numpy as jnp


def gaussian_kernel(size, sigma):
    ax = jnp.arange(size) - size // 2
    k = jnp.exp(-(ax[:, None] ** 2 + ax[None, :] ** 2) / (2 * sigma**2))
    return k / k.sum()


def blur(image, kernel):
    return jax.scipy.signal.convolve2d(image, kernel, mode="same")


@jax.jit
def blur_batch(images):
    kernel = gaussian_kernel(5, 1.2)
    return jnp.stack([blur(image, kernel) for image in images])  # finding


def main():
    images = jax.random.uniform(jax.random.key(0), (64, 28, 28))
    print(blur_batch(images).mean())


if __name__ == "__main__":
    main()
