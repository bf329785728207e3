# rows that a mask hides

import jax
import jax.numpy as jnp

@jax.jit
def attend(scores, valid):
    causal = jnp.tril(jnp.ones(scores.shape, bool))
    rows = jnp.where(valid[:, None] & valid[None, :], scores, -jnp.inf)
    bias = jnp.where(valid[:, None], 0.0, float("-inf"))
    hidden = jax.nn.softmax(rows, axis=-1)  # finding
    added = jax.nn.log_softmax(scores + bias)  # finding
    columns = jax.nn.softmax(jnp.where(causal & valid[None, :], scores, -jnp.inf), axis=-1)
    down = jax.nn.softmax(jnp.where(valid[:, None], scores, -jnp.inf), axis=0)
    finite = jax.nn.softmax(jnp.where(valid[:, None], scores, -1e9), axis=-1)
    chosen = jnp.where(valid[:, None], jax.nn.softmax(rows, axis=-1), 0.0)
    return hidden, added, columns, down, finite, chosen

attend(jnp.ones((4, 4)), jnp.arange(4) < 3)
