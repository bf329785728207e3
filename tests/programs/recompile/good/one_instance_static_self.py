# source: jax-ml/jax#4274

from functools import partial

import jax
import jax.numpy as jnp


class Filter:
    """Linear Kalman filter; one instance for the whole run."""

    def __init__(self, dim, q=0.1, r=0.5):
        self.dim = dim
        self.q, self.r = q, r

    @partial(jax.jit, static_argnums=0)
    def update(self, state, z):
        mean, cov = state
        cov = cov + self.q * jnp.eye(self.dim)
        gain = cov @ jnp.linalg.inv(cov + self.r * jnp.eye(self.dim))
        return mean + gain @ (z - mean), (jnp.eye(self.dim) - gain) @ cov

    def run(self, measurements):
        state = (jnp.zeros(self.dim), jnp.eye(self.dim))
        for z in measurements:
            state = self.update(state, z)
        return state


if __name__ == "__main__":
    print(Filter(3).run([jnp.ones(3)] * 6)[0])
