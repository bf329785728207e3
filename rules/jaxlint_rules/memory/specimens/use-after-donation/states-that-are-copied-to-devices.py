# a state that holds one array twice, of which each device gets copies
from typing import Any

import flax.struct
import jax
import jax.numpy as jnp
from flax import jax_utils


@flax.struct.dataclass
class Agent:
    params: Any
    target: Any


def create():
    params = {"w": jnp.ones((4, 4))}
    return Agent(params=params, target=params)


def _update(agent, x):
    return agent.replace(params=jax.tree.map(lambda p: p - 0.1 * x.mean(), agent.params))


update = jax.pmap(_update, donate_argnums=0)
agent = jax_utils.replicate(create())
agent = update(agent, jnp.ones((jax.local_device_count(), 3)))
