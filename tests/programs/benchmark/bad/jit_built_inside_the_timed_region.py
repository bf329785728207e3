# source: tedwards2412/ripple#7
# blind: eighth

import time

import jax
import jax.numpy as jnp


def waveform(theta, freqs):
    mass, phase = theta
    return jnp.cos(2 * jnp.pi * freqs * mass + phase) / freqs


def run(thetas, freqs):
    start = time.time()  # finding-also
    func = jax.jit(jax.vmap(waveform, in_axes=(0, None)))  # finding-also
    out = func(thetas, freqs).block_until_ready()  # finding
    end = time.time()  # finding-also
    print("time per waveform:", (end - start) / thetas.shape[0])
    return out


if __name__ == "__main__":
    run(jnp.ones((100, 2)), jnp.linspace(20.0, 1024.0, 512))
