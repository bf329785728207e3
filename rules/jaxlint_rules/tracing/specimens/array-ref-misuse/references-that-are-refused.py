# references that leave a trace, that have two names, and that are written to from many rows

import jax
import jax.numpy as jnp


@jax.jit
def accumulate(xs):  # finding
    total = jax.new_ref(jnp.zeros(()))

    def body(i, _):
        total[...] += xs[i]
        return None

    jax.lax.fori_loop(0, xs.shape[0], body, None)
    return total


@jax.jit
def swap_add(a_ref, b_ref):
    a = a_ref[...]
    a_ref[...] = a + b_ref[...]
    b_ref[...] = a


def main():
    r = jax.new_ref(jnp.arange(4.0))
    swap_add(r, r)  # finding
    swap_add(a_ref=r, b_ref=r)  # finding
    return r + 1  # finding


def count_hits(xs):
    hits = jax.new_ref(jnp.zeros((), jnp.int32))

    def visit(x):
        hits[...] += (x > 0).astype(jnp.int32)  # finding
        return x * 2

    ys = jax.vmap(visit)(xs)
    return ys, hits[...]


def carried():
    r = jax.new_ref(jnp.zeros(()))

    def body(c, x):
        c[...] += x
        return c, None

    return jax.lax.scan(body, r, jnp.ones(3))  # finding
