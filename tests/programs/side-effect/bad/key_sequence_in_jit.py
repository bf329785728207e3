# source: jax-ml/jax#4312

import haiku as hk
import jax
import jax.numpy as jnp

rng_seq = hk.PRNGSequence(42)


def dropout(x, rate):
    keep = jax.random.bernoulli(next(rng_seq), 1 - rate, x.shape)  # finding
    return jnp.where(keep, x / (1 - rate), 0.0)


@jax.jit
def loss(w, x, y):
    hidden = dropout(jnp.tanh(x @ w["in"]), 0.2)
    return jnp.mean((hidden @ w["out"] - y) ** 2)


w = {"in": jnp.ones((4, 8)), "out": jnp.ones(8)}
for _ in range(3):
    print(loss(w, jnp.ones((2, 4)), jnp.ones(2)))
