# blind: twentieth

"""Relaxation of a charged cluster with gradients through pair distances."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@dataclass(frozen=True)
class System:
    strength: float = 1.0
    spring: float = 0.5
    cutoff: float = 6.0
    rate: float = 0.02
    steps: int = 500


def pair_distances(pos, mask):
    """Distances of the pairs selected by mask, 1.0 elsewhere."""
    diff = pos[:, None, :] - pos[None, :, :]
    square = jnp.sum(diff**2, axis=-1)
    return jnp.sqrt(jnp.where(mask, square, 1.0))


def snap(charge):
    """Whole charges forward, identity backward."""
    return charge + lax.stop_gradient(jnp.round(charge) - charge)


def potential(pos, charge, system):
    n = pos.shape[0]
    different = ~jnp.eye(n, dtype=bool)
    r = pair_distances(pos, different)
    q = snap(charge)
    near = different & (r < system.cutoff)
    repulsion = jnp.where(near, q[:, None] * q[None, :] / r, 0.0)
    trap = system.spring * jnp.sum(pos**2)
    return 0.5 * system.strength * repulsion.sum() + trap


@partial(jax.jit, static_argnames="system")
def relax(pos, charge, system):
    def body(pos, _):
        energy, grad = jax.value_and_grad(potential)(pos, charge, system)
        return pos - system.rate * grad, energy

    return lax.scan(body, pos, None, length=system.steps)


@partial(jax.jit, static_argnames="system")
def charge_response(pos, charge, system):
    """Derivative of the energy with respect to the charges."""
    return jax.grad(potential, argnums=1)(pos, charge, system)


def main(n=12):
    system = System()
    k_pos, k_charge = jax.random.split(jax.random.key(0))
    pos = jax.random.normal(k_pos, (n, 3))
    charge = jax.random.uniform(k_charge, (n,), minval=0.6, maxval=2.4)
    pos, energy = relax(pos, charge, system)
    response = charge_response(pos, charge, system)
    print("energy first", float(energy[0]), "last", float(energy[-1]))
    print("radius", float(jnp.linalg.norm(pos, axis=1).max()), "response", float(response.mean()))


if __name__ == "__main__":
    main()
