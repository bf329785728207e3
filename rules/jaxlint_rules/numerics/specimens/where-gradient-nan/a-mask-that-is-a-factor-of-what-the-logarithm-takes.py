# a mask that is a factor of what the logarithm takes

import jax
import jax.numpy as jnp

def entropy(params, obs, legal):
    probs = jax.nn.softmax(obs @ params) * legal
    probs = probs / probs.sum(-1, keepdims=True)
    return -jnp.sum(jnp.where(legal > 0, probs * jnp.log(probs), 0.0))  # finding

def unmasked(params, obs, legal):
    probs = jax.nn.softmax(obs @ params)
    return -jnp.sum(jnp.where(legal > 0, probs * jnp.log(probs), 0.0))

def pooled(params, nodes, segments, n):
    total = jax.ops.segment_sum(nodes @ params, segments, n)
    return jnp.sum(jnp.nan_to_num(total / jax.ops.segment_sum(jnp.ones(3), segments, n)[:, None]))

x = jnp.ones((3, 3))
jax.grad(entropy)(x, x, x)
jax.grad(unmasked)(x, x, x)
jax.grad(pooled)(x, x, jnp.array([0, 0, 2]), 3)
