# under jit, and in what it calls

import jax
import jax.numpy as jnp

@jax.jit
def features(x):
    with jax.default_device(jax.devices("cpu")[0]):  # finding
        return jnp.sort(x)

def helper(x):
    with jax.default_device(jax.devices()[0]):  # finding
        return 2 * x

@jax.jit
def step(x):
    return helper(x)
