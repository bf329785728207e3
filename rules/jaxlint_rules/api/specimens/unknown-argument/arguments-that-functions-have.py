# the right names, arguments that are unpacked, objects of other kinds, and calls that may fail
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.shard_map import shard_map


@jax.jit
def total(x, options):
    return jnp.sum(x, axis=1, keepdims=True) + jnp.sum(x, **options)


def draws(key, rng):
    return jax.random.normal(key, shape=(3,)), rng.normal(size=(3,)), np.random.default_rng(0).normal(size=3)


def of_a_module(tensor):
    return tensor.sum(dim=1)


def either(x):
    try:
        return jnp.sum(x, dim=1)
    except TypeError:
        return jnp.sum(x, axis=1)


def shapes(x, shape):
    return x.reshape(*shape), jnp.exp(x).reshape(2, 3, -1), jnp.maximum(x, 0.0), jnp.clip(x, 0.0, 1.0)


def sharded(function, mesh, spec):
    return shard_map(function, mesh, spec, spec)


def for_another_rule(function, mesh, spec):
    return jax.shard_map(function, mesh, in_specs=spec, out_specs=spec)
