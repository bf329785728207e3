# source: jax-ml/jax#1006
# blind: first

import math

import jax
import jax.numpy as jnp

K_B = 8.617e-5


def arrhenius(temperature, barrier, prefactor=1e13):
    return prefactor * math.exp(-barrier / (K_B * temperature))  # finding


class Reactor:
    def __init__(self, barriers):
        self.barriers = jnp.asarray(barriers)

    def rates(self, temperature):
        return jax.vmap(lambda e: arrhenius(temperature, e))(self.barriers)


if __name__ == "__main__":
    print(Reactor([0.5, 0.7]).rates(300.0))
