# in time, read only, options that can change at any time

import os

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp

os.environ["XLA_FLAGS"] += " --xla_cpu_enable_fast_math=false"
jax.config.update("jax_platforms", "cpu")
SIZE = jnp.float32
x = jnp.ones(3)
jax.config.update("jax_enable_x64", True)
platform = os.environ.get("JAX_PLATFORMS")
os.environ["WANDB_MODE"] = "offline"
os.environ["JAX_OF_ANOTHER_LIBRARY"] = "1"
os.environ.setdefault("JAX_ENABLE_PREEMPTION_SERVICE", "true")
jax.config.update("jax_enable_preemption_service", True)

def main():
    jax.distributed.initialize()
    return jnp.zeros(3)
