# source: google/jax#6441
# blind: first

from functools import partial

import jax
import jax.numpy as jnp


class KalmanFilter:
    def __init__(self, a, q):
        self.a, self.q = a, q
        self.gain = None

    @partial(jax.jit, static_argnums=0)
    def predict(self, mean, cov):
        mean = self.a @ mean
        cov = self.a @ cov @ self.a.T + self.q
        self.gain = cov @ jnp.linalg.inv(cov + jnp.eye(cov.shape[0]))  # finding
        return mean, cov

    def correct(self, mean, obs):
        return mean + self.gain @ (obs - mean)


if __name__ == "__main__":
    kf = KalmanFilter(jnp.eye(2), 0.1 * jnp.eye(2))
    m, c = kf.predict(jnp.zeros(2), jnp.eye(2))
    print(kf.correct(m, jnp.ones(2)))
