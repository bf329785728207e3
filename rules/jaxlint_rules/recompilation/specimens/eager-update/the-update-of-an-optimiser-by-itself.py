# the update of an optimiser by itself

import jax
import jax.numpy as jnp
import optax


def loss(params, x):
    return jnp.sum((x @ params) ** 2)


grad_fn = jax.jit(jax.value_and_grad(loss))


def train(data, params):
    opt_init, opt_update = optax.adam(1e-2)
    opt_state = opt_init(params)
    for epoch in range(100):
        value, grads = grad_fn(params, data)
        updates, opt_state = opt_update(grads, opt_state, params)  # finding
        params = optax.apply_updates(params, updates)
        print(epoch, value)
    return params
