# source: jax-ml/jax#4718
# blind: eighth

import jax
import jax.numpy as jnp


def causal_bias(length):
    allowed = jnp.tril(jnp.ones((length, length), bool))
    return jnp.where(allowed, jnp.zeros((length, length)), jnp.full((length, length), -1e9))


@jax.jit
def attention(q, k, v):
    q, k, v = (a.astype(jnp.bfloat16) for a in (q, k, v))
    scores = jnp.einsum("td,sd->ts", q, k) * q.shape[-1] ** -0.5
    scores = scores + causal_bias(q.shape[0])  # finding
    return jax.nn.softmax(scores, axis=-1) @ v


if __name__ == "__main__":
    x = jnp.ones((4, 8))
    print(attention(x, x, x).dtype)
