# blind: sixteenth

"""Greedy decoding with a cache of fixed size, all steps in one scan."""

from functools import partial

import jax
import jax.numpy as jnp

DIM, HEADS, VOCAB, MAX_LEN = 32, 4, 200, 64
HEAD = DIM // HEADS


def init(key):
    ks = jax.random.split(key, 5)
    return {
        "embed": jax.random.normal(ks[0], (VOCAB, DIM)) * 0.1,
        "pos": jax.random.normal(ks[1], (MAX_LEN, DIM)) * 0.1,
        "qkv": jax.random.normal(ks[2], (DIM, 3 * DIM)) * 0.1,
        "up": jax.random.normal(ks[3], (DIM, 4 * DIM)) * 0.1,
        "down": jax.random.normal(ks[4], (4 * DIM, DIM)) * 0.1,
    }


def one_step(params, cache, token, position):
    keys, values = cache
    x = params["embed"][token] + params["pos"][position]
    q, k, v = jnp.split((x @ params["qkv"]).reshape(3 * HEADS, HEAD), 3)
    keys = jax.lax.dynamic_update_slice(keys, k[None], (position, 0, 0))
    values = jax.lax.dynamic_update_slice(values, v[None], (position, 0, 0))
    scores = jnp.einsum("hd,thd->ht", q, keys) * HEAD**-0.5
    seen = jnp.arange(MAX_LEN) <= position
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9), axis=-1)
    x = x + jnp.einsum("ht,thd->hd", weights, values).reshape(DIM)
    x = x + jax.nn.gelu(x @ params["up"]) @ params["down"]
    return (keys, values), x @ params["embed"].T


@partial(jax.jit, static_argnames="n_new")
def generate(params, prompt, n_new):
    cache = (jnp.zeros((MAX_LEN, HEADS, HEAD)), jnp.zeros((MAX_LEN, HEADS, HEAD)))

    def prefill(cache, item):
        token, position = item
        cache, logits = one_step(params, cache, token, position)
        return cache, logits

    cache, logits = jax.lax.scan(prefill, cache, (prompt, jnp.arange(prompt.shape[0])))
    first = jnp.argmax(logits[-1]).astype(prompt.dtype)

    def decode(carry, position):
        cache, token = carry
        cache, logits = one_step(params, cache, token, position)
        new = jnp.argmax(logits).astype(token.dtype)
        return (cache, new), token

    positions = prompt.shape[0] + jnp.arange(n_new)
    _, tokens = jax.lax.scan(decode, (cache, first), positions)
    return jnp.concatenate([prompt, tokens])


def main():
    params = init(jax.random.PRNGKey(0))
    prompt = jnp.array([3, 17, 42, 9], dtype=jnp.int32)
    print(generate(params, prompt, 40))


if __name__ == "__main__":
    main()
