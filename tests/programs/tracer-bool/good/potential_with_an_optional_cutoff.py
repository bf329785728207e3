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

    def report(self, x):
        e = self.energy(x)
        if e > 0:
            print("positive", float(e))


@dataclass(frozen=True)
class LennardJones(Potential):
    eps: float = 1.0
    cutoff: float | None = 2.5

    def energy(self, x):
        r = jnp.linalg.norm(x)
        e = 4 * self.eps * (r ** -12 - r ** -6)
        if self.cutoff and self.eps > 0:
            e = jnp.where(r > self.cutoff, 0.0, e)
        return e


p = LennardJones()
print(jax.jit(p.force)(jnp.ones(3)))
p.report(jnp.ones(3))
