# source: google/flax#1733
# blind: first

import jax
import jax.numpy as jnp
import optax
from flax.training import train_state


def create(key):
    params = {"w": jax.random.normal(key, (4,))}
    return train_state.TrainState.create(apply_fn=lambda p, x: x @ p["w"], params=params, tx=optax.adam(1e-3))


def _train_step(state, batch):
    grads = jax.grad(lambda p: jnp.mean(state.apply_fn(p, batch) ** 2))(state.params)
    return state.apply_gradients(grads=grads)


train_step = jax.jit(_train_step, donate_argnames=["state"])


def fit(state, batches):
    deltas = []
    for batch in batches:
        new_state = train_step(state, batch)  # finding-also
        deltas.append(optax.global_norm(jax.tree.map(jnp.subtract, new_state.params, state.params)))  # finding
        state = new_state
    return state, deltas


if __name__ == "__main__":
    print(fit(create(jax.random.key(0)), [jnp.ones((2, 4))] * 2)[1])
