# source: jax-ml/jax#192

import jax
import jax.numpy as jnp
from jax import lax


def euler_maruyama(drift, sigma, x0, key, dt, n_steps):
    """Sample a path of dx = drift(x) dt + sigma dW."""

    def body(x, t):
        dw = jnp.sqrt(dt) * jax.random.normal(key, x.shape)  # finding
        x = x + drift(x, t) * dt + sigma * dw
        return x, x

    _, path = lax.scan(body, x0, jnp.arange(n_steps) * dt)
    return path


def ornstein_uhlenbeck(x, t):
    return -1.5 * x + jnp.sin(t)


if __name__ == "__main__":
    path = euler_maruyama(ornstein_uhlenbeck, 0.3, jnp.zeros(3), jax.random.key(2), 0.01, 50)
    print(path[-1])
