# blind: fifth

import math

import jax
import jax.numpy as jnp


def init(key, dim, heads):
    kq, kk, kv = jax.random.split(key, 3)
    shape = (heads, dim, dim // heads)
    return {n: (jax.random.normal(k, shape) * 0.02).astype(jnp.bfloat16) for n, k in zip("qkv", (kq, kk, kv))}


@jax.jit
def attention(params, x):
    q, k, v = (jnp.einsum("bld,hdk->bhlk", x, params[n]) for n in "qkv")
    scores = jnp.einsum("bhlk,bhmk->bhlm", q, k) / math.sqrt(q.shape[-1])
    weights = jax.nn.softmax(scores.astype(jnp.float32), axis=-1).astype(x.dtype)
    return jnp.einsum("bhlm,bhmk->bhlk", weights, v)


if __name__ == "__main__":
    params = init(jax.random.key(0), 64, 4)
    print(attention(params, jnp.ones((2, 8, 64), jnp.bfloat16)).dtype)
