# source: jax-ml/jax#1333

import jax
import jax.numpy as jnp

REAL = jnp.float64


class Ephemeris:
    def __init__(self, epoch_days):
        self.seconds = jnp.asarray(epoch_days, dtype=REAL) * 86400.0  # finding

    def phase(self, period):
        return jnp.mod(self.seconds, period) / period


@jax.jit
def fold(flux, phase):
    bins = jnp.floor(phase * 16).astype(jnp.int32)
    return jax.ops.segment_sum(flux, bins, 16)


def main():
    ephemeris = Ephemeris([2459000.5, 2459000.75, 2459001.0])
    print(fold(jnp.ones(3), ephemeris.phase(0.37)))


main()
