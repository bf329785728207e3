# blind: ninth

import jax
import jax.numpy as jnp


def blur(frame, kernel):
    return jax.scipy.signal.convolve2d(frame, kernel, mode="same")


class Denoiser:
    def __init__(self, size=5):
        self.kernel = jnp.ones((size, size)) / size**2

    def __call__(self, video):
        cleaned = []
        for t in range(video.shape[0]):  # finding
            cleaned.append(blur(video[t], self.kernel))
        return jnp.stack(cleaned)


@jax.jit
def residual_energy(video):
    return jnp.mean((video - Denoiser()(video)) ** 2)


if __name__ == "__main__":
    print(residual_energy(jnp.ones((120, 16, 16))))
