# loops whose function or comment says that they are to be unrolled

import jax
import jax.numpy as jnp


@jax.jit
def fused(x):
    """Sixty-four steps, unrolled at trace time so that XLA fuses them."""
    for _ in range(64):
        x = jnp.tanh(x) + jnp.cos(x)
    return x


@jax.jit
def steps(x):
    # Unrolled: the compiler then sees all of them.
    for _ in range(64):
        x = jnp.tanh(x) + jnp.cos(x)
    for _ in range(64):  # finding
        x = jnp.sin(x) + jnp.cos(x)
    return x
