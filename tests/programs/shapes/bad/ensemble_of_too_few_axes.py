# blind: twelfth

import jax
import jax.numpy as jnp


def init_member(key, sizes=(4, 32, 1)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        (jax.random.normal(k, (m, n)) / jnp.sqrt(m), jnp.zeros(n)) for k, m, n in zip(keys, sizes[:-1], sizes[1:])
    ]


def predict(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = params[-1]
    return (x @ w + b)[:, 0]


def nll(params, x, y, noise):
    return jnp.mean((predict(params, x) - y) ** 2) / noise + jnp.log(noise)


def sgd(params, grads, lr):
    return jax.tree.map(lambda p, g: p - lr * g, params, grads)


ensemble_grad = jax.jit(jax.vmap(jax.value_and_grad(nll), in_axes=(0, None, None)))


def train_ensemble(key, x, y, members=8, steps=500):
    params = jax.vmap(init_member)(jax.random.split(key, members))
    for _ in range(steps):
        losses, grads = ensemble_grad(params, x, y, 0.1)  # finding
        params = sgd(params, grads, 1e-2)
    return params, losses


if __name__ == "__main__":
    x = jnp.ones((64, 4))
    train_ensemble(jax.random.key(0), x, jnp.ones(64))
