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
        self.lengths = {}
        for name, (i, j) in self.springs.items():
            self.lengths[name] = jnp.linalg.norm(self.rest[i] - self.rest[j], axis=1)
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

    def forces(self, position, velocity, params, wind):
        force = jnp.zeros_like(position).at[:, 1].add(-self.config.gravity * 0.1)
        force = force + 0.1 * wind
        for name, (i, j) in self.springs.items():
            delta = position[j] - position[i]
            length = jnp.sqrt(jnp.sum(delta**2, axis=1) + 1e-8)
            pull = jnp.exp(params[name]) * (length - self.lengths[name]) / length
            force = force.at[i].add(pull[:, None] * delta)
            force = force.at[j].add(-pull[:, None] * delta)
        return force - jnp.exp(params["damping"]) * velocity

    def simulate(self, params, winds):
        position = self.rest
        velocity = jnp.zeros_like(position)
        frames = []
        for t in range(self.config.steps):
            acceleration = self.forces(position, velocity, params, winds[t]) / 0.1
            velocity = (velocity + self.config.dt * acceleration) * self.free
            position = position + self.config.dt * velocity
            frames.append(position)
        return jnp.stack(frames)


def main():
    config = Config()
    cloth = Cloth(config)
    rng = np.random.default_rng(config.seed)
    phase = rng.uniform(0, 2 * np.pi, size=3)
    time = np.arange(config.steps)[:, None] * config.dt
    winds = jnp.asarray((np.sin(3 * time + phase) * np.array([1.0, 0.2, 4.0])).astype(np.float32))
    truth = {"structural": np.log(40.0), "shear": np.log(12.0), "bending": np.log(5.0), "damping": np.log(0.08)}
    markers = rng.choice(config.rows * config.columns, size=10, replace=False)
    clean = cloth.simulate({name: jnp.float32(value) for name, value in truth.items()}, winds)[:, markers]
    observed = clean + config.noise * rng.normal(size=clean.shape).astype(np.float32)

    guess = {"structural": 20.0, "shear": 20.0, "bending": 10.0, "damping": 0.2}
    params = {name: jnp.float32(np.log(value)) for name, value in guess.items()}
    tx = optax.adam(config.learning_rate)
    opt_state = tx.init(params)

    def loss_fn(params):
        frames = cloth.simulate(params, winds)
        error = frames[:, markers] - observed
        return 1e3 * jnp.mean(error**2), jnp.abs(error).max()

    @jax.jit
    def update(params, opt_state):
        (loss, worst), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss, worst

    losses = []
    for iteration in range(1, config.iterations + 1):
        params, opt_state, loss, worst = update(params, opt_state)
        losses.append(float(loss))
        if iteration % config.report_every == 0:
            fitted = ", ".join(f"{name} {float(jnp.exp(value)):.3g}" for name, value in sorted(params.items()))
            print(f"iteration {iteration}: loss {losses[-1]:.3g}, worst error {float(worst):.3f}, {fitted}")
    print(f"loss fell from {losses[0]:.3g} to {losses[-1]:.3g}")


if __name__ == "__main__":
    main()
