import jax
import jax.numpy as jnp


@jax.jit
def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(q.shape[-1])  # finding
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v)


key = jax.random.key(0)
q = jax.random.normal(key, (2, 8, 128, 64))
kv = jax.random.normal(key, (2, 128, 8, 64))  # finding-other
out = attention(q, kv, kv)
