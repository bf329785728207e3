"""Recover the stiffness and damping of a hanging cloth from the motion of a few marked points."""
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax


@dataclass
class Config:
    rows: int = 6
    columns: int = 6
    spacing: float = 0.2
    dt: float = 0.02
    steps: int = 18
    gravity: float = 9.81
    noise: float = 0.003
    iterations: int = 60
    learning_rate: float = 0.06
    report_every: int = 10
    seed: int = 13


class Cloth:
    """A grid of unit masses joined by structural, shear and bending springs, held at its two upper corners."""

    def __init__(self, config):
        self.config = config
        grid = np.arange(config.rows * config.columns).reshape(config.rows, config.columns)
        self.springs = {
            "structural": self.pairs(grid, [(0, 1), (1, 0)]),
            "shear": self.pairs(grid, [(1, 1), (1, -1)]),
            "bending": self.pairs(grid, [(0, 2), (2, 0)]),
        }
        y, x = np.mgrid[0 : config.rows, 0 : config.columns]
        rest = np.stack([x.ravel(), -y.ravel(), np.zeros(x.size)], axis=1) * config.spacing
        self.rest = jnp.asarray(rest.astype(np.float32))
        # One list of springs for all kinds, and one incidence matrix that adds their pulls to the points.
        self.names = list(self.springs)
        self.first, self.second = (np.concatenate([pair[k] for pair in self.springs.values()]) for k in range(2))
        self.kinds = np.concatenate([np.full(len(pair[0]), k) for k, pair in enumerate(self.springs.values())])
        self.lengths = jnp.asarray(np.linalg.norm(rest[self.first] - rest[self.second], axis=1).astype(np.float32))
        incidence = np.zeros((x.size, len(self.first)), np.float32)
        incidence[self.first, np.arange(len(self.first))] = 1.0
        incidence[self.second, np.arange(len(self.first))] = -1.0
        self.incidence = jnp.asarray(incidence)
        free = np.ones(x.size, np.float32)
        free[[0, config.columns - 1]] = 0.0
        self.free = jnp.asarray(free)[:, None]

    def pairs(self, grid, offsets):
        first, second = [], []
        rows, columns = grid.shape
        for dr, dc in offsets:
            for r in range(rows):
                for c in range(columns):
                    if r + dr < rows and 0 <= c + dc < columns:
                        first.append(grid[r, c])
                        second.append(grid[r + dr, c + dc])
        return np.array(first), np.array(second)

    def forces(self, position, velocity, stiffness, damping, wind):
        delta = -self.incidence.T @ position
        length = jnp.sqrt(jnp.sum(delta**2, axis=1) + 1e-8)
        pull = stiffness * (length - self.lengths) / length
        force = self.incidence @ (pull[:, None] * delta) + 0.1 * wind
        return force.at[:, 1].add(-self.config.gravity * 0.1) - damping * velocity

    def simulate(self, params, winds):
        stiffness = jnp.exp(jnp.stack([params[name] for name in self.names]))[self.kinds]
        damping = jnp.exp(params["damping"])

        def step(state, wind):
            position, velocity = state
            acceleration = self.forces(position, velocity, stiffness, damping, wind) / 0.1
            velocity = (velocity + self.config.dt * acceleration) * self.free
            position = position + self.config.dt * velocity
            return (position, velocity), position

        return jax.lax.scan(step, (self.rest, jnp.zeros_like(self.rest)), winds)[1]


def main():
    config = Config()
    cloth = Cloth(config)
    rng = np.random.default_rng(config.seed)
    phase = rng.uniform(0, 2 * np.pi, size=3)
    time = np.arange(config.steps)[:, None] * config.dt
    winds = jnp.asarray((np.sin(3 * time + phase) * np.array([1.0, 0.2, 4.0])).astype(np.float32))
    truth = {"structural": np.log(40.0), "shear": np.log(12.0), "bending": np.log(5.0), "damping": np.log(0.08)}
    markers = rng.choice(config.rows * config.columns, size=10, replace=False)
    clean = jax.jit(cloth.simulate)({name: jnp.float32(value) for name, value in truth.items()}, winds)[:, markers]
    observed = clean + config.noise * rng.normal(size=clean.shape).astype(np.float32)

    guess = {"structural": 20.0, "shear": 20.0, "bending": 10.0, "damping": 0.2}
    params = {name: jnp.float32(np.log(value)) for name, value in guess.items()}
    tx = optax.adam(config.learning_rate)

    def loss_fn(params):
        frames = cloth.simulate(params, winds)
        error = frames[:, markers] - observed
        return 1e3 * jnp.mean(error**2), jnp.abs(error).max()

    @jax.jit
    def fit(params):
        def step(carry, _):
            params, opt_state = carry
            (loss, worst), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
            updates, opt_state = tx.update(grads, opt_state)
            params = optax.apply_updates(params, updates)
            return (params, opt_state), (loss, worst, jax.tree.map(jnp.exp, params))

        return jax.lax.scan(step, (params, tx.init(params)), None, length=config.iterations)[1]

    losses, worst, history = jax.device_get(fit(params))
    for iteration in range(config.report_every, config.iterations + 1, config.report_every):
        fitted = ", ".join(f"{name} {values[iteration - 1]:.3g}" for name, values in sorted(history.items()))
        print(f"iteration {iteration}: loss {losses[iteration - 1]:.3g}, worst error {worst[iteration - 1]:.3f}, {fitted}")
    print(f"loss fell from {losses[0]:.3g} to {losses[-1]:.3g}")


if __name__ == "__main__":
    main()
