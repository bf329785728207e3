# a value that is differentiated goes into a reference from outside

import jax
import jax.numpy as jnp


def main():
    w, x = jnp.ones((4, 4)), jnp.ones((2, 4))
    stats = jax.new_ref(jnp.zeros(4))

    def loss(w):
        h = jnp.tanh(x @ w)
        stats[...] = h.mean(0)  # finding
        return h.sum()

    return jax.grad(loss)(w), stats[...]
