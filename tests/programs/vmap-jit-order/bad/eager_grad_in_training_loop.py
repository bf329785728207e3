# source: google/jax#2083
# blind: first

import jax
import jax.numpy as jnp
import optax


def loss_fn(params, x, y):
    h = jnp.tanh(x @ params["w1"] + params["b1"])
    h = jnp.tanh(h @ params["w2"] + params["b2"])
    return jnp.mean((h - y) ** 2)


value_and_grad = jax.value_and_grad(loss_fn)


def train(params, data, steps):
    opt = optax.adam(1e-3)
    state = opt.init(params)
    for i in range(steps):
        x, y = data[i % len(data)]
        loss, grads = value_and_grad(params, x, y)  # finding
        updates, state = opt.update(grads, state)  # finding-also
        params = optax.apply_updates(params, updates)
    return params


if __name__ == "__main__":
    p = {"w1": jnp.ones((2, 4)), "b1": jnp.zeros(4), "w2": jnp.ones((4, 1)), "b2": jnp.zeros(1)}
    train(p, [(jnp.ones((3, 2)), jnp.ones((3, 1)))], 3)
