# blind: tenth

import jax
import jax.numpy as jnp


def height(r2, radius):
    inside = r2 < radius**2
    safe = jnp.where(inside, radius**2 - r2, 1.0)
    return jnp.where(inside, jnp.sqrt(safe), 0.0)


print(jax.grad(lambda r: height(jnp.linspace(0.0, 2.0, 9), r).sum())(1.0))
