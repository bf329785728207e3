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


def rollout(u, diffusion, growth, harvest, grid, n):
    return jax.lax.fori_loop(0, n, lambda _, u: heun(u, diffusion, growth, harvest, grid), u)


def frames_every(diffusion, growth, harvest, grid, every, n_frames):
    def frame(u, _):
        def body(u, _):
            return heun(u, diffusion, growth, harvest, grid), None

        u, _ = jax.lax.scan(body, u, None, length=every)
        return u, u

    return jax.lax.scan(frame, initial_state(grid), None, length=n_frames)[1]


class FrontFit:
    """Maximum a posteriori fit of (diffusion, growth), with Adam, through the solver."""

    def __init__(self, grid, snapshots, every, harvest, lr=0.02):
        self.grid, self.every, self.harvest, self.lr = grid, every, harvest, lr
        self.snapshots = snapshots.astype(np.float32)

    def loss(self, params):
        d, g = jnp.exp(params["log_d"]), jnp.exp(params["log_g"])
        frames = frames_every(d, g, self.harvest, self.grid, self.every, len(self.snapshots))
        misfit = jnp.mean((frames - self.snapshots) ** 2) / 0.01**2
        prior = 0.01 * (params["log_d"] ** 2 + params["log_g"] ** 2)
        return misfit + prior

    def run(self, iterations):
        def adam(carry, i):
            params, m, v = carry
            loss, grads = jax.value_and_grad(self.loss)(params)
            m = jax.tree.map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
            v = jax.tree.map(lambda a, g: 0.99 * a + 0.01 * g**2, v, grads)
            c1, c2 = 1 - 0.9**i, 1 - 0.99**i
            params = jax.tree.map(lambda p, a, b: p - self.lr * (a / c1) / (jnp.sqrt(b / c2) + 1e-8), params, m, v)
            return (params, m, v), loss

        @jax.jit
        def fit(params):
            zeros = jax.tree.map(jnp.zeros_like, params)
            steps = jnp.arange(1, iterations + 1, dtype=jnp.float32)
            (params, _, _), trace = jax.lax.scan(adam, (params, zeros, zeros), steps)
            return params, trace

        params, trace = fit({"log_d": np.float32(-1.5), "log_g": np.float32(0.5)})
        return params, np.asarray(trace)


@partial(jax.jit, static_argnames=("grid", "n_steps"))
def run_scenarios(diffusion, growth, harvest, grid, n_steps):
    def one(growth, harvest):
        def chunk(u, _):
            u = heun(u, diffusion, growth, harvest, grid)
            out = jnp.max(jnp.where(u > 0.5, grid.x(), 0.0)), jnp.sum(u) * grid.dx
            return rollout(u, diffusion, growth, harvest, grid, 4), out

        return jax.lax.scan(chunk, initial_state(grid), None, length=n_steps // 5)[1]

    positions, biomass = jax.vmap(one)(growth, harvest)
    n = positions.shape[1]
    return (positions[:, -1] - positions[:, n // 2]) / (grid.dt * 5 * (n - 1 - n // 2)), biomass[:, -1]


def observe(physics, grid, every, n_snapshots, rng):
    frames = jax.jit(frames_every, static_argnums=(3, 4, 5))(
        physics.diffusion, physics.growth, physics.harvest, grid, every, n_snapshots)
    return np.asarray(frames) + 0.01 * rng.normal(size=frames.shape)


def main():
    rng = np.random.default_rng(5)
    truth, grid = Physics(), Grid()
    snapshots = observe(truth, grid, every=20, n_snapshots=4, rng=rng)
    params, trace = FrontFit(grid, snapshots, 20, truth.harvest).run(500)
    fitted = replace(truth, diffusion=float(np.exp(params["log_d"])), growth=float(np.exp(params["log_g"])))
    print(f"loss {trace[0]:.1f} -> {trace[-1]:.3f}")
    print(f"diffusion {fitted.diffusion:.3f} growth {fitted.growth:.3f}")
    draws = [(rng.uniform(0.8, 1.2), rng.uniform(0.0, 0.3)) for _ in range(150)]
    factors, harvests = np.array(draws, dtype=np.float32).T
    speeds, masses = jax.device_get(run_scenarios(fitted.diffusion, fitted.growth * factors, harvests, grid, 300))
    print(f"front speed {np.mean(speeds):.3f} +- {np.std(speeds):.3f}")
    print(f"biomass {np.mean(masses):.3f} quartiles {np.round(np.quantile(masses.astype(float), [0.25, 0.75]), 3).tolist()}")


if __name__ == "__main__":
    main()
