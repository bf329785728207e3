# blind: ninth

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass
class KalmanFilter:
    q: float
    r: float

    @functools.partial(jax.jit, static_argnums=(0,))
    def __call__(self, observations):
        def step(carry, z):
            mean, var = carry
            var = var + self.q
            gain = var / (var + self.r)
            return (mean + gain * (z - mean), (1 - gain) * var), mean

        return jax.lax.scan(step, (0.0, 1.0), observations)[1]


def smooth(observations, q=0.1, r=1.0):
    kf = KalmanFilter(q, r)
    return kf(observations)  # finding


if __name__ == "__main__":
    print(smooth(jnp.ones(10)))
