# blind: fifth

from functools import partial

import jax
import jax.numpy as jnp


def laplacian(u, dx):
    return (jnp.roll(u, 1) - 2.0 * u + jnp.roll(u, -1)) / dx**2


@partial(jax.jit, static_argnames="n_steps")
def solve_heat(u0, alpha, dx, dt, n_steps):
    def step(_, u):
        u = u + alpha * dt * laplacian(u, dx)
        return u.at[0].set(0.0).at[-1].set(0.0)

    return jax.lax.fori_loop(0, n_steps, step, u0)


def main():
    x = jnp.linspace(0.0, 1.0, 101)
    u = solve_heat(jnp.sin(jnp.pi * x), 0.01, 0.01, 1e-3, n_steps=500)
    for name, value in {"max": u.max(), "mean": u.mean()}.items():
        print(name, value)


if __name__ == "__main__":
    main()
