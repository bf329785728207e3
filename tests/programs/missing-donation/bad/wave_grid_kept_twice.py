# source: jax-ml/jax#1832
# blind: fifth

import jax
import jax.numpy as jnp


def laplacian(u):
    return (
        jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4.0 * u
    )


@jax.jit  # finding
def step(u, u_prev, courant2):
    u_next = 2.0 * u - u_prev + courant2 * laplacian(u)
    return u_next, u


def simulate(n, steps):
    x = jnp.linspace(-1.0, 1.0, n)
    u = jnp.exp(-50.0 * (x[:, None] ** 2 + x[None, :] ** 2))
    u_prev = u
    u, u_prev = step(u, u_prev, 0.0)
    for _ in range(steps):
        u, u_prev = step(u, u_prev, 0.25)  # finding-also
    return u


if __name__ == "__main__":
    print(simulate(256, 5).max())
