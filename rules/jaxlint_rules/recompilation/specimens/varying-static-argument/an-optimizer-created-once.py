# optimizers that are created once, by another function or in another loop, and a step that is compiled anew with them
import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from flax.training.train_state import TrainState


def loss_fn(params, x, y):
    return jnp.mean((x @ params - y) ** 2)


@eqx.filter_jit
def filtered_step(params, opt_state, optim, x, y):
    grads = jax.grad(loss_fn)(params, x, y)
    updates, opt_state = optim.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def fit(params, x, y, epochs):
    optim = optax.inject_hyperparams(optax.adam)(learning_rate=1e-2)
    opt_state = optim.init(params)
    for epoch in range(epochs):
        opt_state.hyperparams["learning_rate"] = jnp.float32(1e-2 * 0.9**epoch)
        for _ in range(100):
            params, opt_state = filtered_step(params, opt_state, optim, x, y)
    return params


@jax.jit
def state_step(state, x, y):
    return state.apply_gradients(grads=jax.grad(loss_fn)(state.params, x, y))


TX = optax.adam(1e-3)


def first_state():
    return TrainState.create(apply_fn=loss_fn, params=jnp.zeros(3), tx=TX)


def folds(x, y):
    for held in range(10):
        state = first_state()
        for _ in range(100):
            state = state_step(state, jnp.delete(x, held, axis=0), jnp.delete(y, held, axis=0))
        yield state


class Trainer:
    def __init__(self, rate):
        self.tx = optax.adam(rate)

    def create(self):
        return TrainState.create(apply_fn=loss_fn, params=jnp.zeros(3), tx=self.tx)

    def train(self, x, y):
        for _ in range(10):
            state = self.create()
            for _ in range(100):
                state = state_step(state, x, y)
        return state


def restarts(x, y, seeds):
    tx = optax.adam(1e-3)
    for seed in range(seeds):
        params = jax.random.normal(jax.random.key(seed), (3,))
        state = TrainState.create(apply_fn=loss_fn, params=params, tx=tx)
        state = state_step(state, x, y)
        yield state


def two(x, y):
    for rate in (1e-2, 1e-3):
        optim = optax.adam(rate)
        params = jnp.zeros(3)
        opt_state = optim.init(params)
        for _ in range(100):
            params, opt_state = filtered_step(params, opt_state, optim, x, y)
        yield params
