# after the first array

import os
import jax
import jax.numpy as jnp

print(jax.devices())
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"  # finding

def main():
    x = jnp.ones(3)
    jax.config.update("jax_platforms", "cpu")  # finding
    jax.distributed.initialize()  # finding
    return x
