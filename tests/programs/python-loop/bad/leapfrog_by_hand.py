# source: jax-ml/jax#402
# blind: first

import jax
import jax.numpy as jnp

N_LEAPFROG = 100


def potential(q):
    return 0.5 * jnp.sum(q**2) + 0.1 * jnp.sum(q**4)


@jax.jit
def hmc_trajectory(q, p, eps):
    force = jax.grad(potential)
    p = p - 0.5 * eps * force(q)
    i = 0
    while i < N_LEAPFROG - 1:  # finding
        q = q + eps * p
        p = p - eps * force(q)
        i += 1
    q = q + eps * p
    return q, p - 0.5 * eps * force(q)


if __name__ == "__main__":
    print(hmc_trajectory(jnp.ones(4), jnp.zeros(4), 0.05))
