# blind: eighteenth

import equinox as eqx
import jax
import jax.numpy as jnp


class MultiHeadAttention(eqx.Module):
    wq: jax.Array
    wk: jax.Array
    wv: jax.Array
    wo: jax.Array

    def __init__(self, dim, heads, *, key):
        kq, kk, kv, ko = jax.random.split(key, 4)
        shape = (dim, heads, dim // heads)
        self.wq = jax.random.normal(kq, shape) / dim**0.5
        self.wk = jax.random.normal(kk, shape) / dim**0.5
        self.wv = jax.random.normal(kv, shape) / dim**0.5
        self.wo = jax.random.normal(ko, (heads, dim // heads, dim)) / dim**0.5

    def __call__(self, x, mask=None):
        q = jnp.einsum("bsm,mhd->bshd", x, self.wq)
        k = jnp.einsum("bsm,mhd->bshd", x, self.wk)
        v = jnp.einsum("bsm,mhd->bshd", x, self.wv)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
        if mask is not None:
            scores = jnp.where(mask, scores, -1e9)
        probs = jax.nn.softmax(scores, axis=-1)
        out = jnp.einsum("bhqk,bhkd->bqhd", probs, v)  # finding
        return jnp.einsum("bqhd,hdm->bqm", out, self.wo)


@eqx.filter_jit
def forward(attn, x):
    causal = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
    return attn(x, causal)


if __name__ == "__main__":
    layer = MultiHeadAttention(24, 3, key=jax.random.key(0))
    print(forward(layer, jnp.ones((2, 7, 24))).shape)
