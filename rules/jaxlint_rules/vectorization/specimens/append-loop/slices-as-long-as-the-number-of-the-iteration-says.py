# slices as long as the number of the iteration says, in a function that is given it

import jax
import jax.numpy as jnp

def corner(x, half):
    size = 2 * half
    return jnp.tanh(x).at[:size, -half : half].multiply(0.5)

def block(x, i, width):
    return jnp.tanh(x).at[i * width : (i + 1) * width].multiply(0.5)

@jax.jit
def corners(x):
    kept = []
    for level in range(40):
        x = corner(x, level)
        kept.append(x)
    return jnp.stack(kept)

@jax.jit
def windows(x):
    sums = []
    state = jnp.zeros(3)
    for i in range(40):
        state = jnp.tanh(state + x[: i + 1].sum())
        sums.append(state)
    return jnp.stack(sums)

@jax.jit
def blocks(x):
    kept = []
    for i in range(40):  # finding
        x = block(x, i, 3)
        kept.append(x)
    return jnp.stack(kept)
