# other names for the same buffers

import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState

def update(state, batch):
    grads = jax.grad(lambda p: jnp.mean((batch @ p["w"]) ** 2))(state.params)
    return state.apply_gradients(grads=grads)

class Agent:
    def __init__(self, params):
        self.params = params
        self.target = self.params
        self._step = jax.jit(self._update, donate_argnums=(0,))

    def _update(self, params, batch):
        return jax.tree.map(lambda p: p - batch.mean(), params)

    def learn(self, batch):
        goal = batch @ self.target["w"]  # finding
        self.params = self._step(self.params, goal)

def train(params, batches):
    state = TrainState.create(apply_fn=None, params=params, tx=optax.sgd(0.1))
    step = jax.jit(update, donate_argnames="state")
    for batch in batches:
        state = step(state, batch)
    return jnp.linalg.norm(state.params["w"] - params["w"])  # finding

def helper(state, batch):
    return jax.jit(update, donate_argnums=0)(state, batch)

def through_a_function(state, batch):
    new = helper(state, batch)
    return new, state.params["w"].sum()  # finding
