# source: jax-ml/jax#16430

import jax
import jax.numpy as jnp


def first_above(values, threshold):
    return next((i for i, v in enumerate(values) if v > threshold), len(values))  # finding


def onset(signal, threshold):
    energy = jnp.convolve(signal**2, jnp.ones(3) / 3, mode="same")
    return first_above(energy, threshold)


batched_onset = jax.vmap(onset, in_axes=(0, None))


def main():
    signals = jnp.sin(jnp.linspace(0, 10, 60)).reshape(3, 20)
    print(batched_onset(signals, 0.5))


main()
