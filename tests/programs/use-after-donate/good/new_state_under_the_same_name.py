# blind: tenth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnames=("state",))
def update(state, batch):
    return {"w": state["w"] - 0.1 * batch.mean(), "n": state["n"] + 1}


def train(batches):
    state = {"w": jnp.ones(3), "n": jnp.zeros((), jnp.int32)}
    snapshot = jax.tree.map(jnp.copy, state)
    for batch in batches:
        state = update(state=state, batch=batch)
    return state, snapshot


print(train([jnp.ones(4)] * 3))
