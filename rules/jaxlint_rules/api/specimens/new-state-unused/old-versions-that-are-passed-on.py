# statistics, a position, adapted parameters and a carry that are computed while the old ones go on
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp


@eqx.filter_jit
def step(model, state, x):
    y, new_state = jax.vmap(model, in_axes=(0, None), out_axes=(0, None))(x, state)  # finding
    return jnp.mean(y), state


class Buffer(NamedTuple):
    data: jax.Array
    position: jax.Array


@jax.jit
def push(buffer, item):
    data = buffer.data.at[buffer.position].set(item)
    position = (buffer.position + 1) % 100  # finding
    return buffer._replace(data=data)


def loss(params, x):
    return jnp.mean((x @ params) ** 2)


@jax.jit
def outer(params, x):
    fast = params
    for _ in range(3):
        grads = jax.grad(loss)(fast, x)
        fast = jax.tree.map(lambda p, g: p - 0.1 * g, fast, grads)  # finding
    return loss(params, x)


def count(carry, x):
    carry_new = carry + x  # finding
    return carry, x


jax.lax.scan(count, 0.0, jnp.arange(3.0))
