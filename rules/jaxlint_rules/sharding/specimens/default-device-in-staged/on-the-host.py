# on the host

import jax
import jax.numpy as jnp

step = jax.jit(lambda x: 2 * x)

def main(x):
    with jax.default_device(jax.devices("cpu")[0]):
        return step(jnp.sort(x))
