# source: jax-ml/jax#9675
# blind: first

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnums=(0, 1))
def leapfrog(u, u_prev, c):
    lap = jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1)
    return 2 * u - u_prev + c**2 * lap, u


def simulate(n, steps, c=0.5):
    u = jnp.exp(-((jnp.arange(n) - n / 2) ** 2) / 10)
    u_next, u = leapfrog(u, u, c)  # finding
    for _ in range(steps):
        u_next, u = leapfrog(u_next, u, c)
    return u_next


if __name__ == "__main__":
    print(simulate(64, 3).max())
