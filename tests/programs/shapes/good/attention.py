import jax
import jax.numpy as jnp


@jax.jit
def attention(q, k, v, mask):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
    scores = jnp.where(mask[None, None], scores, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


key = jax.random.key(0)
q = jax.random.normal(key, (2, 128, 8, 64))
kv = jax.random.normal(key, (2, 96, 8, 64))  # finding-other
out = attention(q, kv, kv, jnp.ones((128, 96), bool))
