# source: google-deepmind/optax#560
# blind: second

from functools import partial

import jax
import jax.numpy as jnp
import optax


def init_mlp(key, sizes):
    params = []
    for n, m in zip(sizes[:-1], sizes[1:], strict=True):
        key, sub = jax.random.split(key)
        params.append({"w": jax.random.normal(sub, (n, m)) / jnp.sqrt(n), "b": jnp.zeros(m)})
    return params


def mlp(params, x):
    *hidden, last = params
    for layer in hidden:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


@partial(jax.jit, static_argnames="tx", donate_argnums=(0, 1))
def step(params, opt_state, batch, tx):
    x, y = batch
    grads = jax.grad(lambda p: jnp.mean((mlp(p, x) - y) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


def train(params, batch, rounds=8, rate=0.1):
    tx = optax.inject_hyperparams(optax.sgd)(learning_rate=rate, momentum=0.9)
    opt_state = tx.init(params)
    for _ in range(rounds):
        for _ in range(5):
            params, opt_state = step(params, opt_state, batch, tx=tx)
        opt_state.hyperparams["learning_rate"] = opt_state.hyperparams["learning_rate"] * 0.5
    return params


if __name__ == "__main__":
    kp, kx, ky = jax.random.split(jax.random.key(0), 3)
    batch = jax.random.normal(kx, (32, 4)), jax.random.normal(ky, (32, 1))
    print(len(train(init_mlp(kp, (4, 16, 1)), batch)))
