# source: jax-ml/jax#1733
# blind: first

import jax
import jax.numpy as jnp


def attend(q, cache, length):
    mask = jnp.arange(cache["k"].shape[0]) <= length
    scores = jnp.where(mask, cache["k"] @ q, -1e9)
    return jax.nn.softmax(scores) @ cache["v"]


def decode_step(params, cache, length, h):
    q, k, v = params["q"] @ h, params["k"] @ h, params["v"] @ h
    cache = {"k": cache["k"].at[length].set(k), "v": cache["v"].at[length].set(v)}
    return attend(q, cache, length), cache


decode = jax.jit(decode_step)  # finding


def generate(params, h, n):
    cache = {"k": jnp.zeros((4096, 64)), "v": jnp.zeros((4096, 64))}
    for t in range(n):
        h, cache = decode(params, cache, t, h)  # finding-also
    return h


if __name__ == "__main__":
    keys = jax.random.split(jax.random.key(0), 3)
    params = {n: jax.random.normal(k, (64, 64)) / 8 for n, k in zip("qkv", keys)}
    print(generate(params, jnp.ones(64), 10).shape)
