# blind: twenty-first

import functools

import jax
import jax.numpy as jnp
import numpy as np


def init(key, d_in, width):
    k1, k2 = jax.random.split(key)
    return {"w1": jax.random.normal(k1, (d_in, width)) / d_in ** 0.5,
            "w2": jax.random.normal(k2, (width,)) / width ** 0.5}


def predict(params, x, activation):
    return activation(x @ params["w1"]) @ params["w2"]


def loss_fn(params, x, y, activation):
    return jnp.mean((predict(params, x, activation) - y) ** 2)


def sgd(params, x, y, activation, lr):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y, activation)
    return jax.tree.map(lambda p, g: p - lr * g, params, grads), loss


def fit(width, activation, x, y, steps=200):
    step = jax.jit(functools.partial(sgd, activation=activation, lr=0.05))
    params = init(jax.random.key(width), x.shape[1], width)
    for _ in range(steps):
        params, loss = step(params, x, y)
    return params, loss


def main():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(256, 3)).astype(np.float32)
    y = (np.abs(x[:, 0]) - x[:, 1]).astype(np.float32)
    results = {}
    for name, activation in (("tanh", jnp.tanh), ("relu", jax.nn.relu)):
        for width in (8, 64):
            _, loss = fit(width, activation, x, y)
            results[name, width] = loss
    table = {key: round(float(value), 4) for key, value in results.items()}
    for key, value in sorted(table.items()):
        print(key, value)
    assert table["relu", 64] < np.var(y)


if __name__ == "__main__":
    main()
