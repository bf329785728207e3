"""Two dimensional wave equation with a damped boundary and a moving source."""
from dataclasses import dataclass, field

import jax
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
        grid = np.linspace(0, params.length, params.n, dtype=np.float32)
        self.X, self.Y = np.meshgrid(grid, grid, indexing="ij")
        self.speed = self._speed_map()
        self.damping = self._sponge()
        self.u = jnp.zeros((params.n, params.n))
        self.u_prev = jnp.zeros((params.n, params.n))
        index = np.arange(params.n)
        inside = (index > 0) & (index < params.n - 1)
        self.interior = inside[:, None] & inside[None, :]

    def _speed_map(self):
        lens = (self.X - 0.6) ** 2 + (self.Y - 0.5) ** 2 < 0.15 ** 2
        return np.where(lens, 0.6, 1.0).astype(np.float32) * self.p.speed

    def _sponge(self, width=10, strength=6.0):
        profile = np.zeros(self.p.n)
        for i in range(width):
            value = strength * ((width - i) / width) ** 2
            profile[i] = value
            profile[-1 - i] = value
        return np.maximum(profile[:, None], profile[None, :]).astype(np.float32)

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

    def step(self, u, u_prev, t):
        dt = self.p.dt
        accel = self.speed ** 2 * self.laplacian(u) + self.source(t)
        damp = self.damping * dt
        u_next = (2 * u - (1 - damp) * u_prev + dt ** 2 * accel) / (1 + damp)
        return jnp.where(self.interior, u_next, 0.0), u

    def energy(self, u, u_prev):
        velocity = (u - u_prev) / self.p.dt
        gx = jnp.diff(u, axis=0) / self.p.dx
        gy = jnp.diff(u, axis=1) / self.p.dx
        cell = self.p.dx ** 2
        return 0.5 * cell * (jnp.sum(velocity ** 2) + jnp.sum(gx ** 2) + jnp.sum(gy ** 2))

    def _advance(self, u, u_prev, start):
        def body(carry, i):
            u, u_prev = self.step(*carry, i * self.p.dt)
            return (u, u_prev), self.energy(u, u_prev)

        steps = start + jnp.arange(self.p.report)
        (u, u_prev), energies = jax.lax.scan(body, (u, u_prev), steps)
        return u, u_prev, energies.mean(), jnp.abs(u).max()

    def run(self):
        advance = jax.jit(self._advance, donate_argnums=(0, 1))
        u, u_prev = self.u, self.u_prev
        for start in range(0, self.p.steps, self.p.report):
            u, u_prev, recent, peak = advance(u, u_prev, start)
            print(f"step {start + self.p.report:5d} energy {recent:.3f} peak {peak:.3f}")


if __name__ == "__main__":
    WaveSimulation(Params()).run()
