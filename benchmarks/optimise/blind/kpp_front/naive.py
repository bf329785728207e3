"""Fisher-KPP population front: fit diffusion and growth to snapshots, then an ensemble of scenarios."""
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np


@dataclass(frozen=True)
class Physics:
    diffusion: float = 0.6
    growth: float = 1.1
    harvest: float = 0.05


@dataclass(frozen=True)
class Grid:
    n: int = 80
    length: float = 20.0
    dt: float = 0.02

    @property
    def dx(self):
        return self.length / self.n

    def x(self):
        return (jnp.arange(self.n) + 0.5) * self.dx


def laplacian(u, dx):
    left = jnp.concatenate([u[:1], u[:-1]])
    right = jnp.concatenate([u[1:], u[-1:]])
    return (left - 2.0 * u + right) / dx**2


def rhs(u, diffusion, growth, harvest, dx):
    return diffusion * laplacian(u, dx) + growth * u * (1.0 - u) - harvest * u


def heun(u, diffusion, growth, harvest, grid):
    k1 = rhs(u, diffusion, growth, harvest, grid.dx)
    k2 = rhs(u + grid.dt * k1, diffusion, growth, harvest, grid.dx)
    return u + 0.5 * grid.dt * (k1 + k2)


def initial_state(grid, centre=2.0, width=1.0):
    return 0.8 * jnp.exp(-((grid.x() - centre) / width) ** 2)


class FrontFit:
    """Maximum a posteriori fit of (diffusion, growth), with Adam, through the solver."""

    def __init__(self, grid, snapshots, every, harvest, lr=0.02):
        self.grid, self.every, self.harvest, self.lr = grid, every, harvest, lr
        self.snapshots = snapshots
        self.value_and_grad = jax.jit(jax.value_and_grad(self.loss))

    def predict(self, params):
        d, g = jnp.exp(params["log_d"]), jnp.exp(params["log_g"])

        def body(u, _):
            u = heun(u, d, g, self.harvest, self.grid)
            return u, u

        _, states = jax.lax.scan(body, initial_state(self.grid), None, length=len(self.snapshots) * self.every)
        return states[self.every - 1::self.every]

    def loss(self, params):
        misfit = jnp.mean((self.predict(params) - self.snapshots) ** 2) / 0.01**2
        prior = 0.01 * (params["log_d"] ** 2 + params["log_g"] ** 2)
        return misfit + prior

    def run(self, iterations):
        params = {"log_d": jnp.array(-1.5), "log_g": jnp.array(0.5)}
        m = jax.tree.map(jnp.zeros_like, params)
        v = jax.tree.map(jnp.zeros_like, params)
        trace = []
        for i in range(1, iterations + 1):
            loss, grads = self.value_and_grad(params)
            m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
            v = jax.tree.map(lambda a, g: 0.99 * a + 0.01 * g**2, v, grads)
            m_hat = jax.tree.map(lambda a: a / (1 - 0.9**i), m)
            v_hat = jax.tree.map(lambda a: a / (1 - 0.99**i), v)
            params = jax.tree.map(lambda p, a, b: p - self.lr * a / (jnp.sqrt(b) + 1e-8), params, m_hat, v_hat)
            trace.append(float(loss))
        return params, trace


@partial(jax.jit, static_argnames=("physics", "grid"))
def advance(u, physics, grid):
    return heun(u, physics.diffusion, physics.growth, physics.harvest, grid)


def front_position(u, grid):
    above = jnp.where(u > 0.5, grid.x(), 0.0)
    return jnp.max(above)


def run_scenario(physics, grid, n_steps):
    u = initial_state(grid)
    positions, biomass = [], []
    for step in range(n_steps):
        u = advance(u, physics, grid)
        if step % 5 == 0:
            positions.append(float(front_position(u, grid)))
            biomass.append(float(jnp.sum(u) * grid.dx))
    speed = (positions[-1] - positions[len(positions) // 2]) / (grid.dt * 5 * (len(positions) - 1 - len(positions) // 2))
    return speed, biomass[-1]


def observe(physics, grid, every, n_snapshots, rng):
    u = initial_state(grid)
    frames = []
    for i in range(every * n_snapshots):
        u = advance(u, physics, grid)
        if (i + 1) % every == 0:
            frames.append(np.array(u) + 0.01 * rng.normal(size=grid.n))
    return np.stack(frames)


def main():
    rng = np.random.default_rng(5)
    truth, grid = Physics(), Grid()
    snapshots = observe(truth, grid, every=20, n_snapshots=4, rng=rng)
    params, trace = FrontFit(grid, snapshots, 20, truth.harvest).run(500)
    fitted = replace(truth, diffusion=float(jnp.exp(params["log_d"])), growth=float(jnp.exp(params["log_g"])))
    print(f"loss {trace[0]:.1f} -> {trace[-1]:.3f}")
    print(f"diffusion {fitted.diffusion:.3f} growth {fitted.growth:.3f}")
    speeds, masses = [], []
    for _ in range(150):
        scenario = replace(fitted, growth=fitted.growth * float(rng.uniform(0.8, 1.2)), harvest=float(rng.uniform(0.0, 0.3)))
        speed, mass = run_scenario(scenario, grid, 300)
        speeds.append(speed)
        masses.append(mass)
    print(f"front speed {np.mean(speeds):.3f} +- {np.std(speeds):.3f}")
    print(f"biomass {np.mean(masses):.3f} quartiles {np.round(np.quantile(masses, [0.25, 0.75]), 3).tolist()}")


if __name__ == "__main__":
    main()
