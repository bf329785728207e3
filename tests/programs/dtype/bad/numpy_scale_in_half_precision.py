# blind: tenth

import jax
import jax.numpy as jnp
import numpy as np


class Attention:
    def __init__(self, width, heads):
        self.heads = heads
        self.scale = np.float32(1.0 / np.sqrt(width // heads))

    def __call__(self, q, k, v):
        q = q * self.scale  # finding
        weights = jax.nn.softmax(jnp.einsum("thd,shd->hts", q, k))
        return jnp.einsum("hts,shd->thd", weights, v)


layer = Attention(64, 4)
q = jnp.ones((10, 4, 16), jnp.bfloat16)
print(jax.jit(layer.__call__)(q, q, q).dtype)
