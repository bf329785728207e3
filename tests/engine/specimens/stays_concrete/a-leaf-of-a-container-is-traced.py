# a leaf of a container is traced
import jax
import jax.numpy as jnp

@jax.jit
def step(batch):
    if batch["x"].sum() > 0:  # finding: tracer-branch
        return batch["x"]
    return -batch["x"]

step({"x": jnp.ones(2)})
