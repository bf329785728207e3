# blind: tenth

import jax
import jax.numpy as jnp


@jax.jit
def sweep(u):
    new = u.at[1:-1].set(0.5 * (u[:-2] + u[2:]))
    return new, jnp.max(jnp.abs(new - u))


def relax(u, tol=1e-3, limit=50):
    for _ in range(limit):
        for _ in range(20):
            u, change = sweep(u)
        if change < tol:
            break
    return u


print(relax(jnp.array([0.0, 0.0, 0.0, 1.0])))
