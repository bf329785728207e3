# source: jax-ml/jax#4718
# blind: eighth

import jax
import jax.numpy as jnp


@jax.jit
def attention(q, k, v):
    q, k, v = (a.astype(jnp.bfloat16) for a in (q, k, v))
    scores = jnp.einsum("td,sd->ts", q, k) * q.shape[-1] ** -0.5
    allowed = jnp.tril(jnp.ones(scores.shape, bool))
    scores = jnp.where(allowed, scores, jnp.finfo(scores.dtype).min)
    return jax.nn.softmax(scores, axis=-1) @ v


if __name__ == "__main__":
    x = jnp.ones((4, 8))
    print(attention(x, x, x).dtype)
