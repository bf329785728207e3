# 64 bits after the constants of the module, or of the function

import jax
import jax.numpy as jnp

NODES = jnp.linspace(-1.0, 1.0, 9)

def integrate(f):
    return jnp.sum(f(NODES))

def main():
    jax.config.update("jax_enable_x64", True)  # finding
    return integrate(jnp.exp)

def other():
    start = jnp.zeros(3)
    jax.config.update("jax_enable_x64", True)  # finding
    return start + 1e-12
