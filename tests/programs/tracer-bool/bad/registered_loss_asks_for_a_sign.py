# blind: every clause

import jax
import jax.numpy as jnp

REGISTRY = {}


def register(name):
    def deco(fn):
        REGISTRY[name] = fn
        return fn

    return deco


@register("l1")
def l1(r):
    return jnp.sum(r) if r[0] > 0 else -jnp.sum(r)  # finding


def fit(name, w):
    return jax.jit(jax.grad(REGISTRY[name]))(w)


print(fit("l1", jnp.ones(2)))
