# blind: tenth

import jax
import jax.numpy as jnp


def ema(old, new, decay=0.99):
    return jax.tree_map(lambda a, b: decay * a + (1 - decay) * b, old, new)  # finding


print(ema({"w": jnp.ones(2)}, {"w": jnp.zeros(2)}))
