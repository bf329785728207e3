# source: jax-ml/jax#2783

import equinox as eqx
import jax
import jax.numpy as jnp
import optax


class Mlp(eqx.Module):
    first: eqx.nn.Linear
    second: eqx.nn.Linear

    def __init__(self, key):
        k1, k2 = jax.random.split(key)
        self.first = eqx.nn.Linear(2, 8, key=k1)
        self.second = eqx.nn.Linear(8, 1, key=k2)

    def __call__(self, x):
        return self.second(jax.nn.relu(self.first(x)))


def loss_fn(model, x, y):
    pred = jax.vmap(model)(x)[:, 0]
    mse = jnp.mean((pred - y) ** 2)
    metrics = {"mse": float(mse), "mae": float(jnp.abs(pred - y).mean())}  # finding
    return mse, metrics


def train(model, x, y, steps=3):
    optim = optax.adam(1e-2)
    state = optim.init(eqx.filter(model, eqx.is_array))
    value_and_grad = eqx.filter_value_and_grad(loss_fn, has_aux=True)
    for _ in range(steps):
        (_, metrics), grads = value_and_grad(model, x, y)
        updates, state = optim.update(grads, state)
        model = eqx.apply_updates(model, updates)
    return model, metrics


print(train(Mlp(jax.random.key(0)), jnp.ones((4, 2)), jnp.zeros(4))[1])
