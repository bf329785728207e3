# blind: eighteenth

import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass  # finding-also
class LatticeBoltzmann:
    nx: int
    ny: int
    tau: float = 0.6

    def equilibrium(self, rho, u):
        c = jnp.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], dtype=jnp.float32)
        w = jnp.array([1 / 3, 1 / 6, 1 / 6, 1 / 6, 1 / 6])
        cu = jnp.einsum("qd,xyd->xyq", c, u)
        return rho[..., None] * w * (1 + 3 * cu)

    def init(self):
        rho = jnp.ones((self.nx, self.ny)).at[self.nx // 2, self.ny // 2].add(0.1)
        return self.equilibrium(rho, jnp.zeros((self.nx, self.ny, 2)))

    @functools.partial(jax.jit, static_argnums=0, donate_argnums=1)  # finding
    def step(self, f):  # finding-also
        rho = f.sum(-1)
        feq = self.equilibrium(rho, jnp.zeros((self.nx, self.ny, 2)))
        f = f - (f - feq) / self.tau
        shifts = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]
        moved = [jnp.roll(f[..., q], s, axis=(0, 1)) for q, s in enumerate(shifts)]
        return jnp.stack(moved, axis=-1)


def main(steps=3):
    sim = LatticeBoltzmann(8, 8)
    f = sim.init()
    for _ in range(steps):
        f = sim.step(f)  # finding-also
    print(f.sum())


if __name__ == "__main__":
    main()
