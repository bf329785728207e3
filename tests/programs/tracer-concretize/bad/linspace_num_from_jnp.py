# source: jax-ml/jax#5208

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class GridSpec:
    start: float
    stop: float
    spacing: float

    def points(self):
        num = jnp.maximum(jnp.abs((self.stop - self.start) / self.spacing), 1)
        return jnp.linspace(self.start, self.stop, num + 1)  # finding


@partial(jax.jit, static_argnums=(1,))
def integrate(coefficients, spec):
    x = spec.points()
    values = jnp.polyval(coefficients, x)
    return jnp.sum(0.5 * (values[1:] + values[:-1])) * spec.spacing


def main():
    spec = GridSpec(0.0, 1.0, 0.1)
    print(integrate(jnp.array([1.0, 0.0, -1.0]), spec))


main()
