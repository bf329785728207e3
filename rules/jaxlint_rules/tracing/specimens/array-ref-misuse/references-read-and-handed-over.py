# references that are read, handed over one by one, mapped, and given values without gradients

import jax
import jax.numpy as jnp


@jax.jit
def accumulate(xs):
    total = jax.new_ref(jnp.zeros(()))

    def body(i, _):
        total[...] += xs[i]
        return None

    jax.lax.fori_loop(0, xs.shape[0], body, None)
    return total[...]


@jax.jit
def swap(a_ref, b_ref):
    a = a_ref[...]
    a_ref[...] = b_ref[...]
    b_ref[...] = a


def main():
    w, x = jnp.ones((4, 4)), jnp.ones((2, 4))
    a = jax.new_ref(jnp.arange(4.0))
    b = jax.new_ref(jnp.ones(4))
    swap(a, b)

    def row(ref, x):
        ref[...] += x
        return x + b[0]

    jax.vmap(row)(a, jnp.ones(4))

    def loss(w):
        h = jnp.tanh(x @ w)
        b[...] = jax.lax.stop_gradient(h.mean(0))
        return h.sum()

    return a[...] + 1, jax.grad(loss)(w), jnp.sum(b[...])
