# source: jax-ml/jax#16611
# blind: fifth

import jax.numpy as jnp


def laplacian(u, dx):
    return (jnp.roll(u, 1) - 2.0 * u + jnp.roll(u, -1)) / dx**2


def solve_heat(u0, alpha, dx, dt, n_steps):
    u = u0
    for _ in range(n_steps):  # finding
        u = u + alpha * dt * laplacian(u, dx)  # finding-also
        u = u.at[0].set(0.0).at[-1].set(0.0)
    return u


def main():
    x = jnp.linspace(0.0, 1.0, 101)
    u0 = jnp.sin(jnp.pi * x)
    u = solve_heat(u0, alpha=0.01, dx=0.01, dt=1e-3, n_steps=500)
    print(u.max())


if __name__ == "__main__":
    main()
