# source: huggingface/transformers#17843
# blind: second

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Cache(NamedTuple):
    keys: jax.Array
    values: jax.Array
    length: jax.Array


class Decoding(NamedTuple):
    tokens: jax.Array
    cache: Cache
    done: jax.Array
    step: jax.Array


def init_params(key, vocab, dim):
    names = ("embed", "q", "k", "v", "out")
    shapes = ((vocab, dim), (dim, dim), (dim, dim), (dim, dim), (dim, vocab))
    keys = jax.random.split(key, len(names))
    return {n: jax.random.normal(k, s) / dim**0.5 for n, k, s in zip(names, keys, shapes, strict=True)}


def attend(params, cache, token):
    x = params["embed"][token]
    keys = jax.lax.dynamic_update_slice(cache.keys, (x @ params["k"])[None], (cache.length, 0))
    values = jax.lax.dynamic_update_slice(cache.values, (x @ params["v"])[None], (cache.length, 0))
    scores = keys @ (x @ params["q"])
    visible = jnp.arange(keys.shape[0]) <= cache.length
    weights = jax.nn.softmax(jnp.where(visible, scores, -1e9))
    return (x + weights @ values) @ params["out"], Cache(keys, values, cache.length + 1)


@functools.partial(jax.jit, static_argnames=("limit", "eos"))
def decode(params, first, limit, eos):
    dim = params["embed"].shape[1]
    empty = jnp.zeros((limit, dim))
    start = Decoding(
        jnp.full(limit, eos).at[0].set(first),
        Cache(empty, empty, jnp.zeros((), jnp.int32)),
        jnp.array(False),
        jnp.zeros((), jnp.int32),
    )

    def running(state):
        return ~state.done & (state.step < limit - 1)

    def body(state):
        logits, cache = attend(params, state.cache, state.tokens[state.step])
        token = jnp.argmax(logits)
        tokens = state.tokens.at[state.step + 1].set(token)
        return Decoding(tokens, cache, token == eos, state.step + 1)

    return jax.lax.while_loop(running, body, start)


def main():
    params = init_params(jax.random.key(0), 20, 8)
    for first in (3, 5, 7):
        result = decode(params, jnp.int32(first), limit=12, eos=0)
        print(result.tokens[: int(result.step) + 1])


if __name__ == "__main__":
    main()
