# source: google-deepmind/mujoco_playground#349
# blind: fifth

import jax
import jax.numpy as jnp


def drift(x, theta):
    return -theta * x


def euler_maruyama(key, x0, theta, sigma, dt, n):
    """Path of an Ornstein-Uhlenbeck process."""

    def step(x, t):
        dw = jnp.sqrt(dt) * jax.random.normal(key, x.shape)  # finding
        x = x + drift(x, theta) * dt + sigma * dw
        return x, x

    _, path = jax.lax.scan(step, x0, jnp.arange(n) * dt)
    return path


simulate = jax.jit(euler_maruyama, static_argnames="n")


if __name__ == "__main__":
    key = jax.random.PRNGKey(42)
    path = simulate(key, jnp.ones(3), 0.7, 0.2, 0.01, n=100)
    print(path.shape, path.std())
