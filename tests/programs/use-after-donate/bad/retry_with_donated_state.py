# source: google/orbax#310
# blind: first

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnames=("params", "momentum"))
def update(params, momentum, grads, lr):
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, grads)
    params = jax.tree.map(lambda p, m: p - lr * m, params, momentum)
    return params, momentum


def line_search(params, momentum, grads, loss):
    for lr in (1.0, 0.1, 0.01):
        new_params, new_momentum = update(params, momentum, grads, lr)  # finding
        if loss(new_params) < 1.0:
            return new_params, new_momentum
    return params, momentum  # finding-also


if __name__ == "__main__":
    one = {"w": jnp.ones(3)}
    print(line_search({"w": jnp.ones(3)}, {"w": jnp.zeros(3)}, one, lambda p: p["w"].sum() ** 2))
