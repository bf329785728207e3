# function: train_step
# arguments: params=dict, opt_state=state, x=array, y=array

"""A training step with optax; what is logged is logged outside."""

import logging

import jax
import jax.numpy as jnp
import optax

log = logging.getLogger("train")
optimizer = optax.adam(1e-2)


def loss_fn(params, x, y):
    hidden = jnp.tanh(x @ params["w1"] + params["b1"])
    predictions = hidden @ params["w2"]
    return optax.l2_loss(predictions, y).mean()


def train_step(params, opt_state, x, y):
    value, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state, value


def main():
    k1, k2, k3 = jax.random.split(jax.random.key(0), 3)
    params = {
        "w1": jax.random.normal(k1, (4, 16)) / 2,
        "b1": jnp.zeros(16),
        "w2": jax.random.normal(k2, (16, 1)) / 4,
    }
    opt_state = optimizer.init(params)
    x = jax.random.normal(k3, (64, 4))
    y = jnp.sin(x.sum(axis=1, keepdims=True))
    for number in range(60):
        params, opt_state, value = train_step(params, opt_state, x, y)
        log.info("step %d loss %s", number, value)
    print("loss", value)


if __name__ == "__main__":
    main()
