# blind: twentieth

"""Attention block with optional mask and optional memory."""
from functools import partial

import jax
import jax.numpy as jnp


def init_params(key, dim):
    names = ("query", "key", "value", "out")
    keys = jax.random.split(key, len(names))
    return {n: jax.random.normal(k, (dim, dim)) * dim**-0.5 for n, k in zip(names, keys)}


def split_heads(x, heads):
    batch, time, dim = x.shape
    return x.reshape(batch, time, heads, dim // heads).transpose(0, 2, 1, 3)


def merge_heads(x):
    batch, heads, time, dim = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, time, heads * dim)


def masked_mean(x, mask):
    """Average over time of (batch, time, dim)."""
    weight = mask[..., None].astype(x.dtype)
    return (x * weight).sum(axis=1) / jnp.maximum(weight.sum(axis=1), 1.0)


@partial(jax.jit, static_argnames="heads")
def encode(params, x, mask=None, memory=None, heads=4):
    if x.ndim == 2:
        x = x[None]
    source = x if memory is None else jnp.concatenate([memory, x], axis=1)
    q = split_heads(x @ params["query"], heads)
    k = split_heads(source @ params["key"], heads)
    v = split_heads(source @ params["value"], heads)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        extra = source.shape[1] - x.shape[1]
        if extra > 0:
            front = jnp.ones((mask.shape[0], extra), bool)
            full = jnp.concatenate([front, mask], axis=1)
        else:
            full = mask
        scores = jnp.where(full[:, None, None, :], scores, -1e9)
    out = merge_heads(jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores, axis=-1), v))
    out = x + out @ params["out"]
    return out if mask is None else masked_mean(out, mask)


def main():
    k_params, k_x, k_mem, k_len = jax.random.split(jax.random.key(0), 4)
    params = init_params(k_params, 32)
    x = jax.random.normal(k_x, (8, 20, 32))
    memory = jax.random.normal(k_mem, (8, 5, 32))
    lengths = jax.random.randint(k_len, (8, 1), 4, 21)
    mask = jnp.arange(20) < lengths
    print("no mask", encode(params, x).shape)
    print("masked", encode(params, x, mask).shape)
    print("with memory", encode(params, x, mask, memory).shape)
    print("single", encode(params, x[0]).shape)


if __name__ == "__main__":
    main()
