# blind: ninth

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Info(NamedTuple):
    norm: jax.Array
    skipped: jax.Array


def global_norm(grads):
    return jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))


def apply(params, grads, lr):
    norm = global_norm(grads)
    new = jax.tree.map(lambda p, g: p - lr * g, params, grads)
    return new, Info(norm, jnp.bool_(False))


def skip(params, grads, lr):
    del grads, lr
    return params, Info(jnp.nan, 1)


@jax.jit
def guarded_step(params, grads, lr):
    ok = jnp.isfinite(global_norm(grads))
    return jax.lax.cond(ok, apply, skip, params, grads, lr)  # finding


if __name__ == "__main__":
    params = {"w": jnp.ones(3)}
    print(guarded_step(params, {"w": jnp.ones(3)}, 0.1))
