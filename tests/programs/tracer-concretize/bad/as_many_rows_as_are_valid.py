# blind: tenth

import jax
import jax.numpy as jnp


@jax.jit
def top_valid(scores, valid):
    count = int(valid.sum())  # finding
    return jax.lax.top_k(jnp.where(valid, scores, -jnp.inf), count)[0]


print(top_valid(jnp.arange(5.0), jnp.array([True, False, True, True, False])))
