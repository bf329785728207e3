import jax
import jax.numpy as jnp


def energy(x, w):
    return jnp.dot(x, w).sum()  # finding


xs = jnp.ones((100, 8))
w = jnp.ones((16, 4))
print(jax.vmap(energy, in_axes=(0, None))(xs, w))
