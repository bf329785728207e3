# blind: eighteenth

from typing import NamedTuple

import jax
import jax.numpy as jnp


class ScaleState(NamedTuple):
    scale: jax.Array
    good_steps: jax.Array


def init_scale(value=2.0**15):
    return ScaleState(jnp.asarray(value, jnp.float32), jnp.asarray(0, jnp.int32))


def adjust(state, finite, period=100):
    def grow(s):
        ready = s.good_steps + 1 >= period
        scale = jnp.where(ready, s.scale * 2.0, s.scale)
        return ScaleState(scale, jnp.where(ready, 0, s.good_steps + 1))

    def shrink(s):
        return ScaleState(jnp.maximum(s.scale * 0.5, 1.0), jnp.zeros_like(s.good_steps))

    return jax.lax.cond(finite, grow, shrink, state)


def all_finite(tree):
    leaves = [jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree)]
    return jnp.all(jnp.stack(leaves))


@jax.jit
def scaled_grads(params, x, state):
    def loss(p):
        return state.scale * jnp.mean((x @ p["w"]) ** 2)

    grads = jax.tree.map(lambda g: g / state.scale, jax.grad(loss)(params))
    return grads, adjust(state, all_finite(grads))


if __name__ == "__main__":
    grads, new_state = scaled_grads({"w": jnp.ones(3)}, jnp.ones((4, 3)), init_scale())
    print(grads, new_state)
