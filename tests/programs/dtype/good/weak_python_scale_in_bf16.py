# blind: tenth

import math

import jax
import jax.numpy as jnp


def attention(q, k, v):
    scale = 1.0 / math.sqrt(q.shape[-1])
    weights = jax.nn.softmax(jnp.einsum("td,sd->ts", q * scale, k).astype(jnp.float32))
    return weights.astype(q.dtype) @ v


q = jnp.ones((8, 16), jnp.bfloat16)
print(jax.jit(attention)(q, q, q).dtype)
