# source: jax-ml/jax#4718
# blind: first

import math

import jax
import jax.numpy as jnp


def attention(q, k, v):
    scale = 1.0 / math.sqrt(q.shape[-1])
    logits = jnp.einsum("qd,kd->qk", q, k, preferred_element_type=jnp.float32) * scale
    return jax.nn.softmax(logits, axis=-1).astype(v.dtype) @ v


def evaluate(batches):
    correct = jnp.zeros((), jnp.int32)
    for predicted, y in batches:
        correct = correct + jnp.sum(predicted == y)
    return correct


if __name__ == "__main__":
    q, k, v = jax.random.normal(jax.random.key(0), (3, 8, 16), jnp.bfloat16)
    print(attention(q, k, v).dtype, evaluate([(jnp.ones(3), jnp.ones(3))] * 2))
