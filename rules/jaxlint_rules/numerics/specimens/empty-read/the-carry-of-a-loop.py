# the carry of a loop that begins empty

import jax
import jax.numpy as jnp


@jax.jit
def running_best(scores):
    def body(i, best):
        return jnp.maximum(best, scores[i])  # finding

    return jax.lax.fori_loop(0, scores.shape[0], body, jnp.empty(scores.shape[1]))


@jax.jit
def total(rows):
    return jax.lax.scan(lambda carry, row: (carry + row, None), jnp.empty(3), rows)[0]  # finding


@jax.jit
def filled(rows):
    def body(i, out):
        return out.at[i].set(rows[i] * 2)

    return jax.lax.fori_loop(0, rows.shape[0], body, jnp.empty(rows.shape))


@jax.jit
def started_right(scores):
    return jax.lax.fori_loop(0, 3, lambda i, best: jnp.maximum(best, scores[i]), jnp.zeros(3))
