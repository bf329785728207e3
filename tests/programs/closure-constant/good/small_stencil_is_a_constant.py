# source: jax-ml/jax#3220
# blind: seventh

import jax
import jax.numpy as jnp
import numpy as np

STENCIL = np.array([[0.0, 1.0, 0.0], [1.0, -4.0, 1.0], [0.0, 1.0, 0.0]], np.float32)


def make_diffusion(rate):
    kernel = jnp.asarray(STENCIL) * rate

    @jax.jit
    def diffuse(field):
        def body(_, u):
            return u + jax.scipy.signal.convolve2d(u, kernel, mode="same")

        return jax.lax.fori_loop(0, 10, body, field)

    return diffuse


def main():
    diffuse = make_diffusion(0.1)
    field = jnp.zeros((32, 32)).at[16, 16].set(1.0)
    print(diffuse(field).sum())


if __name__ == "__main__":
    main()
