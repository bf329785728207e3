# the result of a factory is jitted
import jax
import jax.numpy as jnp

def make_step(cfg, scale):
    def step(state, batch):
        if cfg["anneal"]:
            batch = batch * scale
        if batch.mean() > 0:  # finding: tracer-branch
            state = state + batch
        return state

    return step

step = make_step({"anneal": True}, 2.0)
step = jax.jit(step)
step(jnp.ones(2), jnp.ones(2))
