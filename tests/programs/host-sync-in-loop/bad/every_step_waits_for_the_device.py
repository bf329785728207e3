# source: EvolvingLMMs-Lab/lmms-engine#181
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def advance(state, forcing):
    return 0.99 * state + jnp.fft.ifft(jnp.fft.fft(state) * 0.1).real + forcing


def integrate(state, forcings):
    for forcing in forcings:
        state = advance(state, forcing)
        state.block_until_ready()  # finding
    return state


if __name__ == "__main__":
    print(integrate(jnp.zeros(64), jnp.ones((10, 64)))[:3])
