# blind: twelfth

import jax
import jax.numpy as jnp
import numpy as np


def rotary_tables(dim, length, base=10_000.0):
    inv = 1.0 / base ** (np.arange(0, dim, 2) / dim)
    angles = np.outer(np.arange(length), inv).astype(np.float32)
    return np.cos(angles), np.sin(angles)


def apply_rotary(x, cos, sin):
    x1, x2 = jnp.split(x, 2, axis=-1)
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    return jnp.concatenate([x1 * cos - x2 * sin, x2 * cos + x1 * sin], axis=-1)  # finding


def attention(params, x, heads=8):
    b, t, d = x.shape
    x = x.astype(jnp.bfloat16)
    q = (x @ params["wq"].astype(jnp.bfloat16)).reshape(b, t, heads, d // heads)
    k = (x @ params["wk"].astype(jnp.bfloat16)).reshape(b, t, heads, d // heads)
    v = (x @ params["wv"].astype(jnp.bfloat16)).reshape(b, t, heads, d // heads)
    cos, sin = rotary_tables(d // heads, t)
    q, k = apply_rotary(q, cos, sin), apply_rotary(k, cos, sin)
    logits = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(d // heads)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(logits, -1), v)


if __name__ == "__main__":
    p = {n: jnp.eye(64) for n in ("wq", "wk", "wv")}
    print(jax.jit(attention)(p, jnp.ones((2, 16, 64))).dtype)
