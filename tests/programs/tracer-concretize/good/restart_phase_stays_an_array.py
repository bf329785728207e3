# source: jax-ml/jax#2783
# blind: third

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class WarmRestartState(NamedTuple):
    count: jax.Array


def scale_by_warm_restart(period) -> optax.GradientTransformation:
    period = int(period)
    if period < 1:
        raise ValueError("period must be positive")

    def init_fn(params):
        return WarmRestartState(count=jnp.zeros((), jnp.int32))

    def update_fn(updates, state, params=None):
        phase = (state.count % period).astype(float) / float(period)
        factor = 0.5 * (1.0 + jnp.cos(jnp.pi * phase))
        updates = jax.tree.map(lambda g: factor * g, updates)
        return updates, WarmRestartState(state.count + 1)

    return optax.GradientTransformation(init_fn, update_fn)


tx = optax.chain(optax.scale_by_adam(), scale_by_warm_restart(50.0), optax.scale(-1e-2))


@jax.jit
def gradient_of(params, x):
    return jax.grad(lambda p: jnp.sum((x @ p["w"]) ** 2))(params)


if __name__ == "__main__":
    params = {"w": jnp.ones(3)}
    state = tx.init(params)
    updates, state = tx.update(gradient_of(params, jnp.ones((4, 3))), state, params)
    print(float(updates["w"][0]), int(state[1].count))
