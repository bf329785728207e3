# source: jax-ml/jax#4718
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


def attention(q, k, v):
    scale = 1.0 / np.sqrt(q.shape[-1])  # finding-also
    logits = jnp.einsum("qd,kd->qk", q, k) * scale  # finding
    return jax.nn.softmax(logits, axis=-1) @ v


if __name__ == "__main__":
    q, k, v = jax.random.normal(jax.random.key(0), (3, 8, 16), jnp.bfloat16)
    print(attention(q, k, v).dtype)
