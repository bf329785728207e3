# source: jax-ml/jax#34257
# blind: nineteenth
# missed: where the last chunk of a padded prompt starts

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

MAX_LEN = 40  # finding-also
CHUNK = 16
DIM = 8


class KVCache(NamedTuple):
    k: jax.Array
    v: jax.Array
    length: jax.Array


def empty_cache(batch):
    shape = (batch, MAX_LEN, DIM)
    return KVCache(jnp.zeros(shape), jnp.zeros(shape), jnp.int32(0))


def project(params, x):
    return x @ params["wk"], x @ params["wv"]


@jax.jit
def prefill_chunk(params, cache, x):
    k, v = project(params, x)
    start = (0, cache.length, 0)  # finding-also
    return KVCache(
        lax.dynamic_update_slice(cache.k, k, start),  # finding
        lax.dynamic_update_slice(cache.v, v, start),  # finding-also
        cache.length + x.shape[1],
    )


def prefill(params, prompt_embeds):
    batch, length, _ = prompt_embeds.shape
    cache = empty_cache(batch)
    padded = -(-length // CHUNK) * CHUNK  # finding-also
    x = jnp.pad(prompt_embeds, ((0, 0), (0, padded - length), (0, 0)))
    for lo in range(0, padded, CHUNK):
        cache = prefill_chunk(params, cache, x[:, lo : lo + CHUNK])
    return cache._replace(length=jnp.int32(length))


def attend(q, cache):
    logits = jnp.einsum("bd,btd->bt", q, cache.k) / jnp.sqrt(DIM)
    valid = jnp.arange(MAX_LEN) < cache.length
    w = jax.nn.softmax(jnp.where(valid, logits, -jnp.inf))
    return jnp.einsum("bt,btd->bd", w, cache.v)


def main():
    keys = jax.random.split(jax.random.key(1), 4)
    params = {
        "wk": jax.random.normal(keys[0], (DIM, DIM)),
        "wv": jax.random.normal(keys[1], (DIM, DIM)),
    }
    prompt = jax.random.normal(keys[2], (2, 38, DIM))
    q = jax.random.normal(keys[3], (2, DIM))
    cache = prefill(params, prompt)
    k, v = project(params, prompt)
    full = jnp.einsum("bt,btd->bd", jax.nn.softmax(jnp.einsum("bd,btd->bt", q, k) / jnp.sqrt(DIM)), v)
    print("max error against full attention", float(jnp.max(jnp.abs(attend(q, cache) - full))))


if __name__ == "__main__":
    main()
