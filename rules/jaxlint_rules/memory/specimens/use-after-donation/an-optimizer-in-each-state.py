# one optimizer in the states of several runs: it is no array, and is not donated with them
import functools

import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


def loss_fn(params, x):
    return jnp.mean((x @ params) ** 2)


@functools.partial(jax.jit, donate_argnums=0)
def step(state, x):
    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params, x))


def restarts(x, seeds):
    tx = optax.adam(1e-3)
    for seed in range(seeds):
        params = jax.random.normal(jax.random.key(seed), (3,))
        state = TrainState.create(apply_fn=loss_fn, params=params, tx=tx)
        state = step(state, x)
        yield state
