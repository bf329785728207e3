# source: jax-ml/jax#9675

import jax
import jax.numpy as jnp
from jax import lax


def init_cache(layers, batch, max_len, heads, dim):
    shape = (layers, batch, max_len, heads, dim)
    return {"k": jnp.zeros(shape), "v": jnp.zeros(shape)}


@jax.jit  # finding-also
def append_kv(cache, k, v, pos):  # finding
    """Write one position of every layer."""
    start = (0, 0, pos, 0, 0)
    return {
        "k": lax.dynamic_update_slice(cache["k"], k[:, :, None], start),
        "v": lax.dynamic_update_slice(cache["v"], v[:, :, None], start),
    }


@jax.jit
def attend(cache, q, pos):
    scores = jnp.einsum("bhd,bthd->bht", q, cache["k"][0])
    scores = jnp.where(jnp.arange(scores.shape[-1]) <= pos, scores, -1e9)
    return jnp.einsum("bht,bthd->bhd", jax.nn.softmax(scores), cache["v"][0])


def decode(n_tokens, layers=2, batch=1, heads=2, dim=4):
    cache = init_cache(layers, batch, n_tokens, heads, dim)
    q = jnp.ones((batch, heads, dim))
    for pos in range(n_tokens):
        k = v = jnp.full((layers, batch, heads, dim), float(pos))
        cache = append_kv(cache, k, v, pos)  # finding-also
        q = attend(cache, q, pos)
    return q


if __name__ == "__main__":
    print(decode(6))
