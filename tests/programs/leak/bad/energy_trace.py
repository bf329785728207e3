# source: jax-ml/jax#4312
# blind: twentieth

"""Hamiltonian Monte Carlo with a record of the energy along a trajectory."""
from dataclasses import dataclass, field
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@dataclass(frozen=True)
class Settings:
    step_size: float = 0.1
    leapfrog: int = 20
    draws: int = 50


@dataclass
class Diagnostics:
    energies: list = field(default_factory=list)

    def record(self, energy):
        self.energies.append(energy)  # finding-also

    def drift(self):
        trace = jnp.stack(self.energies)  # finding-also
        return jnp.abs(trace - trace[0]).max()


def potential(q):
    return 0.5 * jnp.sum(q**2) + 0.05 * jnp.sum(q**4)


def total_energy(q, p):
    return potential(q) + 0.5 * jnp.sum(p**2)


def make_trajectory(settings, diagnostics):
    force = jax.grad(potential)

    @jax.jit
    def trajectory(q, p):
        def leap(carry, _):
            q, p = carry
            p = p - 0.5 * settings.step_size * force(q)
            q = q + settings.step_size * p
            p = p - 0.5 * settings.step_size * force(q)
            diagnostics.record(total_energy(q, p))  # finding
            return (q, p), None

        (q, p), _ = lax.scan(leap, (q, p), None, length=settings.leapfrog)
        return q, -p

    return trajectory


@jax.jit
def accept(key, current, proposed):
    (q0, p0), (q1, p1) = current, proposed
    log_ratio = total_energy(q0, p0) - total_energy(q1, p1)
    return jnp.where(jnp.log(jax.random.uniform(key)) < log_ratio, q1, q0)


def sample(key, q, settings, diagnostics):
    trajectory = make_trajectory(settings, diagnostics)
    draws = []
    for _ in range(settings.draws):
        key, k_momentum, k_accept = jax.random.split(key, 3)
        p = jax.random.normal(k_momentum, q.shape)
        q = accept(k_accept, (q, p), trajectory(q, p))
        draws.append(q)
    return jnp.stack(draws)


def main():
    settings, diagnostics = Settings(), Diagnostics()
    k_start, k_run = jax.random.split(jax.random.key(0))
    draws = sample(k_run, jax.random.normal(k_start, (3,)), settings, diagnostics)
    print("std", draws.std(axis=0))
    print("largest energy drift", float(diagnostics.drift()))


if __name__ == "__main__":
    main()
