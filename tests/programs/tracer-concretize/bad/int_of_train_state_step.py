# source: google/flax#1434
# blind: first

import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState

STAGES = (1e-2, 1e-3, 1e-4)


def weight_for(state):
    return STAGES[min(int(state.step) // 100, len(STAGES) - 1)]  # finding


def penalised(params, state, batch):
    pred = state.apply_fn({"params": params}, batch)
    return jnp.mean(pred**2) + weight_for(state) * optax.tree_utils.tree_sum(params)


def train_step(state, batch):
    grads = jax.grad(penalised)(state.params, state, batch)
    return state.apply_gradients(grads=grads)


train_step = jax.jit(train_step, donate_argnums=0)

if __name__ == "__main__":
    s = TrainState.create(apply_fn=lambda v, x: x @ v["params"], params=jnp.ones(3), tx=optax.sgd(0.1))
    print(train_step(s, jnp.ones((2, 3))).params)
