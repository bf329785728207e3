# one function, or the same lambda, for both outcomes

import jax
import jax.numpy as jnp


def relax(u):
    return 0.5 * (jnp.roll(u, 1) + jnp.roll(u, -1))


@jax.jit
def evolve(u, t):
    u = jax.lax.cond(t % 2 == 0, relax, relax, u)  # finding
    return jax.lax.cond(t > 3, lambda x: x + 1, lambda x: x + 1, u)  # finding
