# source: jax-ml/jax#5210
# blind: first

import jax
import jax.numpy as jnp


def load(n):
    return jnp.zeros((n, 8, 8, 3), dtype=jnp.uint8), jnp.full((n, 8, 8, 3), 7, dtype=jnp.uint8)


def psnr(a, b):
    mse = jnp.mean(jnp.square(a - b))  # finding
    return 20 * jnp.log10(255.0) - 10 * jnp.log10(mse)


if __name__ == "__main__":
    clean, noisy = load(2)
    print(psnr(clean, noisy))
