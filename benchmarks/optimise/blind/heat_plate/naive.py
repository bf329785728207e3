import jax.numpy as jnp
import numpy as np


def laplacian(u, dx):
    return (
        jnp.roll(u, 1, axis=0) + jnp.roll(u, -1, axis=0) + jnp.roll(u, 1, axis=1) + jnp.roll(u, -1, axis=1) - 4 * u
    ) / dx**2


def apply_boundary(u, left, right):
    u = u.at[0, :].set(left)
    u = u.at[-1, :].set(right)
    u = u.at[:, 0].set(u[:, 1])
    u = u.at[:, -1].set(u[:, -2])
    return u


def conductivity(u):
    return 1.0 + 0.5 * jnp.tanh(u)


def step(u, source, dx, dt, left, right):
    u = u + dt * (conductivity(u) * laplacian(u, dx) + source)
    return apply_boundary(u, left, right)


def simulate(u0, source, dx, dt, steps, every):
    u = u0
    frames = [np.array(u)]
    energies = []
    change = 0.0
    for n in range(steps):
        left = 1.0 + 0.2 * np.sin(2 * np.pi * n * dt * 20)
        new = step(u, source, dx, dt, left, 0.0)
        change = jnp.abs(new - u).max()
        u = new
        energies.append(float(jnp.sum(u) * dx**2))
        if (n + 1) % every == 0:
            frames.append(np.array(u))
            print(f"step {n + 1}: energy {energies[-1]:.5f} largest change {change:.3e}")
    return np.stack(frames), np.array(energies)


def main():
    size = 64
    dx = 1.0 / (size - 1)
    dt = 0.15 * dx**2
    grid = jnp.linspace(0, 1, size)
    x, y = jnp.meshgrid(grid, grid, indexing="ij")
    source = 30 * jnp.exp(-80 * ((x - 0.6) ** 2 + (y - 0.4) ** 2))
    frames, energies = simulate(jnp.zeros((size, size)), source, dx, dt, 1500, 250)
    print(f"{len(frames)} frames, mean {frames[-1].mean():.5f}, final energy {energies[-1]:.5f}")


if __name__ == "__main__":
    main()
