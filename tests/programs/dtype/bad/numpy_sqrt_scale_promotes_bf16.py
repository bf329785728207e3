# source: jax-ml/jax#14126
# blind: first

import jax
import jax.numpy as jnp
import numpy as np


def attention(q, k, v):
    scale = np.sqrt(np.float32(q.shape[-1]))
    logits = jnp.einsum("bhqd,bhkd->bhqk", q, k) / scale  # finding
    weights = jax.nn.softmax(logits, axis=-1)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


def forward(x, wq, wk, wv):
    return attention(x @ wq, x @ wk, x @ wv)


if __name__ == "__main__":
    x = jnp.ones((1, 2, 8, 4), jnp.bfloat16)
    w = jnp.ones((4, 4), jnp.bfloat16)
    print(jax.jit(forward)(x, w, w, w).dtype)
