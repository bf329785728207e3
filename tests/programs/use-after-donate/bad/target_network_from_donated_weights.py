# blind: tenth

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=0)
def update(params, grads):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def train(params, steps):
    target = jax.tree.map(jnp.copy, params)
    for _ in range(steps):
        new = update(params, jax.tree.map(jnp.ones_like, target))
        target = jax.tree.map(lambda t, p: 0.99 * t + 0.01 * p, target, params)  # finding
        params = new
    return params, target


print(train({"w": jnp.ones(4)}, 3))
