# blind: ninth

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class KalmanFilter:
    q: float
    r: float
    order: tuple = (1, 2)

    @functools.partial(jax.jit, static_argnums=(0,))
    def __call__(self, observations):
        def step(carry, z):
            mean, var = carry
            var = var + self.q
            gain = var / (var + self.r)
            return (mean + gain * (z - mean), (1 - gain) * var), mean

        return jax.lax.scan(step, (0.0, 1.0), observations)[1]


if __name__ == "__main__":
    print(KalmanFilter(0.1, 1.0)(jnp.ones(10)))
