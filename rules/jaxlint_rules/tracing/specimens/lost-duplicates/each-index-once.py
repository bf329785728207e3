# indices that come once, single items, slices, masks, and other updates

import jax
import jax.numpy as jnp


@jax.jit
def degree(receivers, nodes):
    return jnp.zeros(nodes.shape[0]).at[receivers].add(1.0)


def relax(values, perm, delta):
    order = jnp.argsort(perm)
    return values.at[order].set(values[order] + delta)


def bump(x, i):
    x = x.at[i].set(x[i] + 1.0)
    x = x.at[0].set(x[0] + 1.0)
    return x.at[1:3].set(x[1:3] + 1.0)


def masked(x, mask):
    positive = x > 0
    x = x.at[positive].set(x[positive] + 1)
    first, idx = jax.lax.top_k(x, 2)
    return x.at[idx].set(x[idx] + first)


def swap(x, i, j):
    return x.at[i].set(x[j]).at[j].set(x[i])


def every_row(x, targets):
    rows = jnp.arange(x.shape[0])
    return x.at[rows, 0].set(x[rows, 0] + 1)


bump(jnp.zeros(4), 2)
jax.lax.fori_loop(0, 3, lambda i, x: bump(x, i), jnp.zeros(4))
masked(jnp.zeros(4), None)
every_row(jnp.zeros((3, 2)), None)
relax(jnp.zeros(4), jnp.array([2, 1, 0, 3]), 1.0)
