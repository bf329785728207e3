# blind: ninth

from dataclasses import dataclass

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Solver:
    dt: float = 1e-2
    n_steps: int = 1000

    def stages(self, f, y):
        k, total = f(y), 0.0
        for weight in (1 / 6, 1 / 3, 1 / 3, 1 / 6):
            total = total + weight * k
            k = f(y + 0.5 * self.dt * k)
        return y + self.dt * total

    def integrate(self, f, y):
        return jax.lax.fori_loop(0, self.n_steps, lambda _, y: self.stages(f, y), y)


@jax.jit
def final_state(y0):
    return Solver().integrate(lambda y: -y, y0)


if __name__ == "__main__":
    print(final_state(jnp.ones(3)))
