# source: jax-ml/jax#347
# blind: fourth

import jax
import jax.numpy as jnp
import optax


def unit(v):
    return v / jnp.sqrt(jnp.sum(v**2, axis=-1, keepdims=True) + 1e-9)


def angles(bonds):
    """The angle between each pair of bonds."""
    u = unit(bonds)
    cosines = jnp.clip(u @ u.T, -1.0, 1.0)
    return jnp.arccos(cosines)  # finding


class AngleRestraint:
    def __init__(self, targets, strength):
        self.targets = targets
        self.strength = strength

    def energy(self, bonds):
        error = angles(bonds) - self.targets  # finding-also
        upper = jnp.triu(jnp.ones_like(error), k=1)
        return self.strength * jnp.sum(upper * error**2)


def relax(bonds, restraint, steps):
    tx = optax.sgd(1e-2)
    opt_state = tx.init(bonds)

    @jax.jit
    def step(bonds, opt_state):
        grads = jax.grad(restraint.energy)(bonds)
        updates, opt_state = tx.update(grads, opt_state)
        return optax.apply_updates(bonds, updates), opt_state

    for _ in range(steps):
        bonds, opt_state = step(bonds, opt_state)
    return bonds


if __name__ == "__main__":
    bonds = jnp.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.5]])
    print(relax(bonds, AngleRestraint(jnp.full((3, 3), 1.9), 1.0), 5))
