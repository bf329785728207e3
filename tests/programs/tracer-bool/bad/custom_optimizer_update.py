# source: jax-ml/jax#16430

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class LookaheadState(NamedTuple):
    count: jax.Array
    slow: optax.Params


def lookahead(period, alpha=0.5):
    def init_fn(params):
        return LookaheadState(jnp.zeros([], jnp.int32), params)

    def update_fn(updates, state, params=None):
        count = state.count + 1
        slow = state.slow
        if count % period == 0:  # finding
            slow = jax.tree.map(lambda s, p: s + alpha * (p - s), slow, params)
        return updates, LookaheadState(count, slow)

    return optax.GradientTransformation(init_fn, update_fn)


tx = optax.chain(optax.sgd(0.1), lookahead(5))


@jax.jit
def step(params, state, x):
    grads = jax.grad(lambda p: jnp.mean((x @ p) ** 2))(params)
    updates, state = tx.update(grads, state, params)
    return optax.apply_updates(params, updates), state


params = jnp.ones(3)
state = tx.init(params)
for _ in range(3):
    params, state = step(params, state, jnp.ones((4, 3)))
print(params)
