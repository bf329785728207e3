# source: jax-ml/jax#7556
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


class KalmanFilter:
    def __init__(self, f, h, q, r):
        self.f, self.h, self.q, self.r = f, h, q, r
        self.mean = jnp.zeros(f.shape[0])
        self.cov = jnp.eye(f.shape[0])

    @functools.partial(jax.jit, static_argnums=0)
    def update(self, z):
        mean = self.f @ self.mean
        cov = self.f @ self.cov @ self.f.T + self.q
        s = self.h @ cov @ self.h.T + self.r
        gain = jnp.linalg.solve(s, self.h @ cov).T
        innovation = z - self.h @ mean
        self.mean = mean + gain @ innovation  # finding
        self.cov = (jnp.eye(cov.shape[0]) - gain @ self.h) @ cov  # finding-also
        return innovation


def constant_velocity(dt):
    f = jnp.array([[1.0, dt], [0.0, 1.0]])
    h = jnp.array([[1.0, 0.0]])
    return f, h, 1e-3 * jnp.eye(2), 0.1 * jnp.eye(1)


def main():
    kf = KalmanFilter(*constant_velocity(0.1))
    for t in range(5):
        kf.update(jnp.array([0.1 * t]))
    print(kf.mean + 0.0)  # finding-also


if __name__ == "__main__":
    main()
