# source: google/brax#208
# blind: first

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=(2,), donate_argnums=(0,))
def update(params, grads, step):
    bias = 1.0 - 0.9**step
    return jax.tree.map(lambda p, g: p - 0.01 * g / bias, params, grads)


def optimise(params, grad_fn, n):
    for step in range(1, n + 1):
        params = update(params, grad_fn(params), step)  # finding
    return params


if __name__ == "__main__":
    print(optimise({"a": jnp.ones(3)}, lambda p: jax.tree.map(jnp.ones_like, p), 5))
