# source: jax-ml/jax#7556
# blind: eighteenth

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Belief(NamedTuple):
    mean: jax.Array
    cov: jax.Array


@functools.lru_cache(maxsize=None)
def transition(dt, order):
    """Plain numpy, so that caching it across traces is safe."""
    f = np.eye(order, dtype=np.float32)
    for i in range(order - 1):
        f[i, i + 1] = dt
    return f


class KalmanFilter:
    def __init__(self, dt, order=2, q=1e-3, r=0.1):
        self.f = transition(dt, order)
        self.h = np.eye(1, order, dtype=np.float32)
        self.q = q * np.eye(order, dtype=np.float32)
        self.r = r * np.eye(1, dtype=np.float32)
        self._filter = jax.jit(functools.partial(jax.lax.scan, self.update))

    def init(self):
        n = self.f.shape[0]
        return Belief(jnp.zeros(n), jnp.eye(n))

    def update(self, belief, z):
        mean = self.f @ belief.mean
        cov = self.f @ belief.cov @ self.f.T + self.q
        s = self.h @ cov @ self.h.T + self.r
        gain = jnp.linalg.solve(s, self.h @ cov).T
        resid = z - self.h @ mean
        new = Belief(mean + gain @ resid, (jnp.eye(len(mean)) - gain @ self.h) @ cov)
        return new, resid

    def run(self, zs):
        return self._filter(self.init(), zs)


if __name__ == "__main__":
    kf = KalmanFilter(0.1)
    belief, resid = kf.run(jnp.linspace(0.0, 1.0, 10)[:, None])
    print(belief.mean, resid[-1])
