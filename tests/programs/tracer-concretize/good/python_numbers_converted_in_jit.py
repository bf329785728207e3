# source: blackjax-devs/blackjax#1029
# blind: eighteenth

import functools
import math

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnames=("patch", "drop_rate"))
def patchify(images, patch, drop_rate, key):
    b, h, w, c = images.shape
    gh, gw = h // patch, w // patch
    n = int(math.ceil(gh * gw * (1.0 - float(drop_rate))))
    x = images.reshape(b, gh, patch, gw, patch, c)
    x = x.transpose(0, 1, 3, 2, 4, 5).reshape(b, gh * gw, patch * patch * c)
    order = jax.random.permutation(key, gh * gw)
    keep = order[:n]
    return x[:, keep], jnp.sort(keep)


def positions(n_tokens, dim):
    half = int(dim // 2)
    freq = jnp.exp(-math.log(10_000.0) * jnp.arange(half) / half)
    angle = jnp.arange(n_tokens)[:, None] * freq
    return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], axis=-1)


@jax.jit
def embed(w, tokens):
    h = tokens @ w
    return h + positions(tokens.shape[1], w.shape[1])


if __name__ == "__main__":
    images = jnp.ones((2, 16, 16, 3))
    tokens, kept = patchify(images, 4, 0.5, jax.random.key(0))
    print(embed(jnp.ones((48, 8)) * 0.01, tokens).shape, kept)
