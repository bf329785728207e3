# positional arguments beyond the last parameter
import jax.numpy as jnp


def lengths(x, y):
    return jnp.hypot(x, y, jnp.inf)  # finding


def steps():
    return jnp.eye(3, 3, 0, jnp.float32, "C", None)  # finding


def either(x, limits):
    return jnp.clip(x, *limits), jnp.einsum("ij,jk,kl->il", x, x, x)
