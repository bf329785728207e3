# source: jax-ml/jax#2783
# blind: third

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax


class WarmRestartState(NamedTuple):
    count: jax.Array


def scale_by_warm_restart(period: int) -> optax.GradientTransformation:
    def init_fn(params):
        del params
        return WarmRestartState(count=jnp.zeros((), jnp.int32))

    def update_fn(updates, state, params=None):
        del params
        phase = float(state.count % period) / period  # finding
        factor = 0.5 * (1.0 + jnp.cos(jnp.pi * phase))
        updates = jax.tree.map(lambda g: factor * g, updates)
        return updates, WarmRestartState(state.count + 1)

    return optax.GradientTransformation(init_fn, update_fn)


tx = optax.chain(optax.scale_by_adam(), scale_by_warm_restart(50), optax.scale(-1e-2))


@jax.jit
def step(params, opt_state, x):
    grads = jax.grad(lambda p: jnp.sum((x @ p["w"]) ** 2))(params)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


if __name__ == "__main__":
    params = {"w": jnp.ones(3)}
    print(step(params, tx.init(params), jnp.ones((4, 3)))[0])
