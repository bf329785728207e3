# source: keras-team/keras-core#410
# blind: second

import jax
import jax.numpy as jnp
import numpy as np

SCALE = np.float32(1 / np.sqrt(64))


def attention(q, k, v):
    scores = jnp.einsum("qd,kd->qk", q, k) * SCALE  # finding
    return jax.nn.softmax(scores) @ v


@jax.jit
def layer(x, w):
    x, w = x.astype(jnp.bfloat16), w.astype(jnp.bfloat16)
    return attention(x @ w, x, x)


if __name__ == "__main__":
    print(layer(jnp.ones((8, 64)), jnp.eye(64)).dtype)
