# source: jax-ml/jax#24315
# blind: eighteenth

import jax
import jax.numpy as jnp


class HeatPlate:
    def __init__(self, n, kappa=0.1, hot=100.0):
        self.n = n
        self.kappa = kappa
        self.hot = hot

    def initial(self):
        return jnp.zeros((self.n, self.n))

    def _laplacian(self, u):
        return (
            jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u
        )

    def _apply_bc(self, u):
        edge = jnp.linspace(0.0, self.hot, self.n)
        u[0, :] = edge  # finding
        return u.at[-1, :].set(0.0)  # finding-other

    def solve(self, n_steps):
        def body(_, u):
            return self._apply_bc(u + self.kappa * self._laplacian(u))

        return jax.lax.fori_loop(0, n_steps, body, self.initial())


if __name__ == "__main__":
    plate = HeatPlate(16)
    field = plate.solve(50)
    print(field.mean(), field.max())
