# source: google/orbax#626
# blind: sixteenth

"""Train with early stopping and keep the parameters of the best epoch."""

import functools
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct


@struct.dataclass
class State:
    step: jax.Array
    params: dict
    opt_state: optax.OptState


optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))


def init_state(key, sizes):
    params = {}
    for i, (m, n) in enumerate(zip(sizes[:-1], sizes[1:])):
        key, sub = jax.random.split(key)
        params[f"w{i}"] = jax.random.normal(sub, (m, n)) * jnp.sqrt(2.0 / m)
        params[f"b{i}"] = jnp.zeros((n,))
    return State(jnp.zeros((), jnp.int32), params, optimizer.init(params))


def predict(params, x):
    n = len(params) // 2
    for i in range(n):
        x = x @ params[f"w{i}"] + params[f"b{i}"]
        if i < n - 1:
            x = jax.nn.relu(x)
    return x[:, 0]


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, x, y):
    def loss_fn(params):
        return jnp.mean((predict(params, x) - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    updates, opt_state = optimizer.update(grads, state.opt_state, state.params)
    params = optax.apply_updates(state.params, updates)
    return state.replace(step=state.step + 1, params=params, opt_state=opt_state), loss


@jax.jit
def validate(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(640, 8)).astype(np.float32)
    y = np.sin(x.sum(1)).astype(np.float32)
    state = init_state(jax.random.PRNGKey(1), [8, 64, 64, 1])
    best, best_params, patience = np.inf, None, 0
    for epoch in range(30):
        for i in range(0, 512, 64):
            state, loss = train_step(state, x[i : i + 64], y[i : i + 64])
        val = float(validate(state.params, x[512:], y[512:]))
        if val < best:
            best, patience = val, 0
            best_params = state.params  # finding-also
        else:
            patience += 1
            if patience > 3:
                break
    with open("/tmp/best.pkl", "wb") as f:
        pickle.dump(jax.device_get(best_params), f)  # finding
    print(best)


if __name__ == "__main__":
    main()
