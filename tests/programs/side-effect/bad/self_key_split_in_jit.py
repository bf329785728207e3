# source: jax-ml/jax#12773
# blind: first

from functools import partial

import jax
import jax.numpy as jnp


class Langevin:
    def __init__(self, seed, step_size):
        self.key = jax.random.key(seed)
        self.step_size = step_size

    @partial(jax.jit, static_argnums=0)
    def step(self, x):
        self.key, sub = jax.random.split(self.key)  # finding
        noise = jax.random.normal(sub, x.shape)
        return x - self.step_size * x + jnp.sqrt(2 * self.step_size) * noise


if __name__ == "__main__":
    chain = Langevin(0, 0.1)
    x = jnp.zeros(3)
    for _ in range(3):
        x = chain.step(x)
    print(x)
