# source: jax-ml/jax#5399
# blind: first

import jax
import jax.numpy as jnp


def reflect(x, bound):
    return jax.lax.cond(x > bound, lambda v: 2 * bound - v, lambda v: v, x)  # finding


@jax.jit
def bounce(positions, velocities, bound):
    return reflect(positions + velocities, bound)


if __name__ == "__main__":
    print(bounce(jnp.array([0.5, 1.5]), jnp.array([0.1, 0.1]), 1.0))
