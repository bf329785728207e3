# source: jax-ml/jax#8604
# blind: second

import dataclasses

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Grid:
    start: float
    stop: float
    points: int

    def nodes(self):
        return jnp.linspace(self.start, self.stop, self.points, dtype=jnp.float64)  # finding

    def spacing(self):
        return (self.stop - self.start) / (self.points - 1)


def second_difference(u, h):
    return (jnp.roll(u, -1) - 2 * u + jnp.roll(u, 1)) / h**2


@jax.jit
def heat_step(u, h, dt):
    return u + dt * second_difference(u, h)


def main():
    grid = Grid(0.0, 1.0, 4001)
    u = jnp.exp(-100 * (grid.nodes() - 0.5) ** 2)
    h = grid.spacing()
    for _ in range(5):
        u = heat_step(u, h, 0.1 * h**2)
    print(u.dtype, u.sum())


if __name__ == "__main__":
    main()
