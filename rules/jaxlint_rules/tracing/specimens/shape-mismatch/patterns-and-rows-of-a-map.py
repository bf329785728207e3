# patterns and rows of a map

import jax
import jax.numpy as jnp
from einops import rearrange

q = jnp.ones((2, 8, 128, 64))
k = jnp.ones((2, 128, 8, 64))
scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)  # finding
heads = rearrange(q, "b t (h d) -> b h t d", h=8)  # finding

def energy(x, w):
    return jnp.dot(x, w).sum()  # finding

jax.vmap(energy, in_axes=(0, None))(jnp.ones((100, 8)), jnp.ones((16, 4)))
