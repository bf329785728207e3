# source: jax-ml/jax#16430

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class EmaState(NamedTuple):
    count: jax.Array
    mean: optax.Params


def averaged(decay, debias=True):
    def init_fn(params):
        return EmaState(jnp.zeros([], jnp.int32), jax.tree.map(jnp.zeros_like, params))

    def update_fn(updates, state, params=None):
        if params is None:
            raise ValueError("averaged needs the parameters")
        count = state.count + 1
        mean = jax.tree.map(lambda m, u: decay * m + (1 - decay) * u, state.mean, updates)
        scale = 1.0 / (1 - decay**count) if debias else 1.0
        updates = jax.tree.map(lambda m: m * scale, mean)
        return updates, EmaState(count, mean)

    return optax.GradientTransformation(init_fn, update_fn)


tx = optax.chain(averaged(0.9), optax.scale(-0.1))
params = {"w": jnp.ones(3)}
state = tx.init(params)
for _ in range(2):
    grads = jax.grad(lambda p: jnp.sum(p["w"] ** 2))(params)
    updates, state = tx.update(grads, state, params)
    params = optax.apply_updates(params, updates)
print(params)
