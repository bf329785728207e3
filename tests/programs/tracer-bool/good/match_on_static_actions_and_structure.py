# blind: every clause

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnums=1)
def env_step(state, action):
    match action:
        case 0:
            return state + jnp.array([1.0, 0.0])
        case 1:
            return state - jnp.array([1.0, 0.0])
        case _:
            return state


@jax.jit
def norm_of(tree):
    match tree:
        case {"w": w}:
            return jnp.sum(w)
        case (a, b):
            return jnp.sum(a) + jnp.sum(b)


print(env_step(jnp.zeros(2), 1), norm_of({"w": jnp.ones(2)}), norm_of((jnp.ones(2), jnp.ones(1))))
