# an agent as a pytree with a static field
import jax
import jax.numpy as jnp
from flax import struct

class Agent(struct.PyTreeNode):
    params: jax.Array
    entropy: bool = struct.field(pytree_node=False)
    steps: int = 0

    @jax.jit
    def update(agent, batch):
        if agent.entropy:
            batch = batch * 2
        return agent.replace(params=agent.params + batch)

Agent(params=jnp.ones(2), entropy=True).update(jnp.ones(2))
