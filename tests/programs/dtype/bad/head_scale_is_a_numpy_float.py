# source: jax-ml/jax#1830
# blind: fifth

import jax
import jax.numpy as jnp
import numpy as np


def init(key, dim, heads):
    kq, kk, kv = jax.random.split(key, 3)
    make = lambda k: (jax.random.normal(k, (heads, dim, dim // heads)) * 0.02).astype(jnp.bfloat16)
    return {"q": make(kq), "k": make(kk), "v": make(kv)}


@jax.jit
def attention(params, x):
    q = jnp.einsum("bld,hdk->bhlk", x, params["q"])
    k = jnp.einsum("bld,hdk->bhlk", x, params["k"])
    v = jnp.einsum("bld,hdk->bhlk", x, params["v"])
    scores = jnp.einsum("bhlk,bhmk->bhlm", q, k) / np.sqrt(q.shape[-1])  # finding
    weights = jax.nn.softmax(scores, axis=-1)
    return jnp.einsum("bhlm,bhmk->bhlk", weights, v)


if __name__ == "__main__":
    params = init(jax.random.key(0), 64, 4)
    out = attention(params, jnp.ones((2, 8, 64), jnp.bfloat16))
    print(out.dtype, out.shape)
