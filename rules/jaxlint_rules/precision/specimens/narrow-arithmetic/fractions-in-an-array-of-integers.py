# fractions in an array of integers

import jax
import jax.numpy as jnp

@jax.jit
def losses(logits, labels):
    labels = labels.astype(jnp.int32)
    out = jnp.zeros_like(labels)
    return out.at[0].set(-jax.nn.log_softmax(logits)[0, 0])  # finding

def shares(x):
    counts = jnp.zeros(10, dtype=int)
    counts = counts.at[0].add(0.5)  # finding

    def body(i, out):
        return out.at[i].set(jnp.exp(x[i]))  # finding

    return counts, jax.lax.fori_loop(0, 10, body, jnp.arange(10))

@jax.jit
def whole(x, labels):
    counts = jnp.zeros(10, dtype=jnp.int32)
    counts = counts.at[labels].add(1).at[0].set(2.0).at[1].set(jnp.round(x[0] * 2.5))
    weights = jnp.zeros_like(labels, dtype=jnp.float32).at[0].set(jnp.exp(x[0]))
    return counts.at[2].set((x[2] * 0.5).astype(jnp.int32)), weights, labels.at[0].set(x[0])

shares(jnp.ones(10))
