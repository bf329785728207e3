# source: jax-ml/jax#18475
# blind: fifth

from functools import partial

import jax
import jax.numpy as jnp

MAX_LEN = 2048
CAUSAL = jnp.tril(jnp.ones((MAX_LEN, MAX_LEN), dtype=bool))


@partial(jax.jit, static_argnames="heads")
def attend(q, k, v, heads):
    length = q.shape[1]
    q, k, v = (a.reshape(*a.shape[:2], heads, -1) for a in (q, k, v))
    scores = jnp.einsum("blhd,bmhd->bhlm", q, k) * q.shape[-1] ** -0.5
    scores = jnp.where(CAUSAL[:length, :length], scores, -1e9)  # finding
    out = jnp.einsum("bhlm,bmhd->blhd", jax.nn.softmax(scores, axis=-1), v)
    return out.reshape(*out.shape[:2], -1)


if __name__ == "__main__":
    x = jax.random.normal(jax.random.key(0), (1, 128, 64))
    print(attend(x, x, x, heads=4).shape)
