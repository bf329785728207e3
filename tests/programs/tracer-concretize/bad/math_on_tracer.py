# source: jax-ml/jax#9085

import math

import jax
import jax.numpy as jnp


class Gaussian:
    def __init__(self, mean, log_scale):
        self.mean = mean
        self.log_scale = log_scale

    def entropy(self):
        return 0.5 * math.log(2 * math.pi * math.e) + self.log_scale

    def cdf_tail(self, x):
        z = (x - self.mean) / jnp.exp(self.log_scale)
        return 0.5 * math.erfc(z / math.sqrt(2.0))  # finding


def censored_nll(theta, x, limit):
    noise = Gaussian(theta[0], theta[1])
    z = (x - noise.mean) / jnp.exp(noise.log_scale)
    observed = 0.5 * z**2 + noise.log_scale
    return observed.mean() - jnp.log(noise.cdf_tail(limit))


gradient = jax.grad(censored_nll)
print(gradient(jnp.array([0.1, -0.2]), jnp.linspace(-1, 1, 7), 1.5))
