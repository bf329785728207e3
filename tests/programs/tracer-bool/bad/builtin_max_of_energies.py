# source: jax-ml/jax#2161
# blind: first

import jax
import jax.numpy as jnp


def pair(r):
    return 4.0 * (r**-12 - r**-6)


def wall(r, cutoff):
    return max(pair(r), pair(cutoff))  # finding


def total(radii, cutoff):
    return jnp.sum(jax.vmap(wall, in_axes=(0, None))(radii, cutoff))


force = jax.grad(total)

if __name__ == "__main__":
    print(force(jnp.linspace(1.0, 2.0, 5), 2.5))
