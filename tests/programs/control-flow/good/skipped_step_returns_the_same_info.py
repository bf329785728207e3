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
    new = jax.tree.map(lambda p, g: p - lr * g, params, grads)
    return new, Info(global_norm(grads), jnp.bool_(False))


def skip(params, grads, lr):
    return params, Info(jnp.float32(jnp.nan), jnp.bool_(True))


@jax.jit
def guarded_step(params, grads, lr):
    ok = jnp.isfinite(global_norm(grads))
    return jax.lax.cond(ok, apply, skip, params, grads, lr)


if __name__ == "__main__":
    print(guarded_step({"w": jnp.ones(3)}, {"w": jnp.ones(3)}, 0.1))
