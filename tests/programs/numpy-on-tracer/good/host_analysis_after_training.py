# source: dpiras/cosmopower-jax#9

import jax
import jax.numpy as jnp
import numpy as np
from scipy import optimize


@jax.jit
def energy(x, field):
    return jnp.sum(x**4 - field * x**2)


gradient = jax.jit(jax.grad(energy))


def relax(field):
    result = optimize.minimize(
        lambda x: float(energy(x, field)),
        np.ones(3),
        jac=lambda x: np.asarray(gradient(x, field), np.float64),
        method="BFGS",
    )
    return result.x


def main():
    table = np.array([relax(f) for f in np.linspace(0.1, 1.0, 3)])
    print(np.linalg.norm(table, axis=1))


if __name__ == "__main__":
    main()
