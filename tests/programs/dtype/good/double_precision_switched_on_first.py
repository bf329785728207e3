# source: jax-ml/jax#8604
# blind: second

import dataclasses

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Grid:
    start: float
    stop: float
    points: int

    def nodes(self):
        return jnp.linspace(self.start, self.stop, self.points, dtype=jnp.float64)

    def spacing(self):
        return (self.stop - self.start) / (self.points - 1)


def second_difference(u, h):
    return (jnp.roll(u, -1) - 2 * u + jnp.roll(u, 1)) / h**2


@jax.jit
def heat(u, h, dt):
    return jax.lax.fori_loop(0, 5, lambda _, u: u + dt * second_difference(u, h), u)


def main():
    grid = Grid(0.0, 1.0, 4001)
    u = jnp.exp(-100 * (grid.nodes() - 0.5) ** 2)
    h = grid.spacing()
    u = heat(u, h, 0.1 * h**2)
    assert u.dtype == jnp.float64


if __name__ == "__main__":
    main()
