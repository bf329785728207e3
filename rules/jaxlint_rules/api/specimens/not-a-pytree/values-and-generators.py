# views of dicts and generators as pytrees

import jax
import jax.numpy as jnp


@jax.jit
def global_norm(leaves):
    return jnp.sqrt(sum(jnp.sum(x**2) for x in leaves))


def report(params):
    named = {"w": jnp.ones(3), "b": jnp.ones(2)}
    other = global_norm({"a", "b"})  # finding
    return global_norm(named.values()), other  # finding


def of_unknown(params):
    return global_norm(params.values())  # finding


def normalise(params):
    return jax.tree.map(lambda x: x / jnp.linalg.norm(x), (p for p in params))  # finding


def count(params):
    return jax.lax.fori_loop(0, 3, lambda i, c: c, (p for p in params))  # finding
