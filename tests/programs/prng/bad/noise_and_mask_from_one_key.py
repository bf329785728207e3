# blind: tenth

import jax
import jax.numpy as jnp


class Corruption:
    def __init__(self, rate, sigma):
        self.rate, self.sigma = rate, sigma

    def noise(self, key, x):
        return x + self.sigma * jax.random.normal(key, x.shape)

    def drop(self, key, x):
        keep = jax.random.uniform(key, x.shape) > self.rate
        return jnp.where(keep, x, 0.0)

    def __call__(self, key, x):
        return self.drop(key, self.noise(key, x))  # finding


print(Corruption(0.3, 0.1)(jax.random.key(0), jnp.ones((4, 4))))
