# source: climate-analytics-lab/jax-gcm#175
# blind: eighth

import jax
import jax.numpy as jnp


def dispersion(k):
    return jnp.exp(-1j * k**2 * 0.01)


@jax.jit
def propagate(psi):
    psi = jnp.asarray(psi, dtype="complex128")  # finding
    k = 2 * jnp.pi * jnp.fft.fftfreq(psi.shape[0])
    return jnp.fft.ifft(dispersion(k) * jnp.fft.fft(psi))


if __name__ == "__main__":
    print(propagate(jnp.ones(16))[:2])
