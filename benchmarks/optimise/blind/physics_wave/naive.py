"""Two dimensional wave equation with a damped boundary and a moving source."""
from dataclasses import dataclass, field

import jax.numpy as jnp
import numpy as np


@dataclass
class Params:
    n: int = 96
    length: float = 1.0
    speed: float = 1.0
    cfl: float = 0.5
    steps: int = 900
    report: int = 150
    dx: float = field(init=False)
    dt: float = field(init=False)

    def __post_init__(self):
        self.dx = self.length / self.n
        self.dt = self.cfl * self.dx / self.speed


class WaveSimulation:
    def __init__(self, params: Params):
        self.p = params
        grid = jnp.linspace(0, params.length, params.n)
        self.X, self.Y = jnp.meshgrid(grid, grid, indexing="ij")
        self.speed = self._speed_map()
        self.damping = self._sponge()
        self.u = jnp.zeros((params.n, params.n))
        self.u_prev = jnp.zeros((params.n, params.n))
        self.energies = []

    def _speed_map(self):
        lens = (self.X - 0.6) ** 2 + (self.Y - 0.5) ** 2 < 0.15 ** 2
        return jnp.where(lens, 0.6, 1.0) * self.p.speed

    def _sponge(self, width=10, strength=6.0):
        profile = np.zeros(self.p.n)
        for i in range(width):
            value = strength * ((width - i) / width) ** 2
            profile[i] = value
            profile[-1 - i] = value
        return jnp.maximum(profile[:, None], profile[None, :])

    def laplacian(self, u):
        return (
            jnp.roll(u, 1, axis=0) + jnp.roll(u, -1, axis=0)
            + jnp.roll(u, 1, axis=1) + jnp.roll(u, -1, axis=1)
            - 4 * u
        ) / self.p.dx ** 2

    def source(self, t):
        cx = 0.2 + 0.1 * jnp.sin(2 * jnp.pi * t)
        r2 = (self.X - cx) ** 2 + (self.Y - 0.5) ** 2
        return 50.0 * jnp.sin(2 * jnp.pi * 6 * t) * jnp.exp(-r2 / 0.002)

    def step(self, t):
        dt = self.p.dt
        accel = self.speed ** 2 * self.laplacian(self.u) + self.source(t)
        damp = self.damping * dt
        u_next = (2 * self.u - (1 - damp) * self.u_prev + dt ** 2 * accel) / (1 + damp)
        u_next = u_next.at[0, :].set(0.0)
        u_next = u_next.at[-1, :].set(0.0)
        u_next = u_next.at[:, 0].set(0.0)
        u_next = u_next.at[:, -1].set(0.0)
        self.u_prev, self.u = self.u, u_next

    def energy(self):
        velocity = (self.u - self.u_prev) / self.p.dt
        gx = jnp.diff(self.u, axis=0) / self.p.dx
        gy = jnp.diff(self.u, axis=1) / self.p.dx
        cell = self.p.dx ** 2
        return 0.5 * cell * (jnp.sum(velocity ** 2) + jnp.sum(gx ** 2) + jnp.sum(gy ** 2))

    def run(self):
        for i in range(self.p.steps):
            self.step(i * self.p.dt)
            self.energies.append(float(self.energy()))
            if (i + 1) % self.p.report == 0:
                recent = np.mean(self.energies[-self.p.report:])
                peak = float(jnp.abs(self.u).max())
                print(f"step {i + 1:5d} energy {recent:.3f} peak {peak:.3f}")


if __name__ == "__main__":
    WaveSimulation(Params()).run()
