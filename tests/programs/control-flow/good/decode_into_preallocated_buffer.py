# source: jax-ml/jax#15178
# blind: eighteenth

import functools

import jax
import jax.numpy as jnp


def init(key, vocab, dim):
    k1, k2 = jax.random.split(key)
    return {
        "embed": jax.random.normal(k1, (vocab, dim)),
        "mix": jax.random.normal(k2, (dim, dim)) / dim**0.5,
    }


def logits_at(params, tokens, length):
    h = params["embed"][tokens]
    mask = (jnp.arange(tokens.shape[0]) < length)[:, None]
    ctx = (h * mask).sum(0) / length
    return jnp.tanh(ctx @ params["mix"]) @ params["embed"].T


@functools.partial(jax.jit, static_argnames="max_len")
def generate(params, prompt, key, max_len):
    start = prompt.shape[0]
    buffer = jnp.zeros(max_len, prompt.dtype).at[:start].set(prompt)

    def body(carry, k):
        tokens, length = carry
        nxt = jax.random.categorical(k, logits_at(params, tokens, length))
        tokens = tokens.at[length].set(nxt.astype(tokens.dtype))
        return (tokens, length + 1), nxt

    carry = (buffer, jnp.asarray(start, jnp.int32))
    (tokens, _), _ = jax.lax.scan(body, carry, jax.random.split(key, max_len - start))
    return tokens


if __name__ == "__main__":
    params = init(jax.random.key(0), 32, 16)
    print(generate(params, jnp.array([5, 6], jnp.int32), jax.random.key(1), 8))
