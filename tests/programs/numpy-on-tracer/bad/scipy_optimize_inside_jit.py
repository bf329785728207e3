# source: jax-ml/jax#9085

import jax
import jax.numpy as jnp
import numpy as np
from scipy import optimize


def energy(x, field):
    return jnp.sum(x**4 - field * x**2)


def relax(x0, field):
    result = optimize.minimize(energy, x0, args=(field,), jac=jax.grad(energy), method="BFGS")  # finding
    return result.x


@jax.jit
def ground_state_energy(field):
    x = relax(jnp.ones(3), field)
    return energy(x, field)


def main():
    fields = np.linspace(0.1, 1.0, 3)
    print([ground_state_energy(f) for f in fields])


main()
