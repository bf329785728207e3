# blind: every clause

from abc import ABC, abstractmethod
from dataclasses import dataclass

import jax
import jax.numpy as jnp


class Potential(ABC):
    @abstractmethod
    def energy(self, x): ...

    def force(self, x):
        return -jax.grad(self.energy)(x)


@dataclass(frozen=True)
class LennardJones(Potential):
    eps: float = 1.0
    cutoff: float = 2.5

    def energy(self, x):
        r = jnp.linalg.norm(x)
        if r > self.cutoff:  # finding
            return 0.0
        return 4 * self.eps * (r ** -12 - r ** -6)


@dataclass
class Integrator:
    potential: Potential
    dt: float

    def __post_init__(self):
        self.run = jax.jit(self._run)

    def _run(self, x, v):
        def body(s, _):
            x, v = s
            v = v + self.dt * self.potential.force(x)
            return (x + self.dt * v, v), x

        return jax.lax.scan(body, (x, v), None, length=3)


print(Integrator(LennardJones(), 0.01).run(jnp.ones(3), jnp.zeros(3)))
