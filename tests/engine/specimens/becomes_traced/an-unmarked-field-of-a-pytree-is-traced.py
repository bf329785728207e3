# an unmarked field of a pytree is traced
import jax
import jax.numpy as jnp
from flax import struct

class Agent(struct.PyTreeNode):
    params: jax.Array
    steps: int = 0

@jax.jit
def update(agent: Agent, batch):
    if agent.steps > 3:  # finding: tracer-branch
        batch = batch * 2
    return agent.replace(params=agent.params + batch)

update(Agent(params=jnp.ones(2), steps=4), jnp.ones(2))
