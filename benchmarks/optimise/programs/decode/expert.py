"""The same as naive.py, as flax decodes: a cache of fixed size, written in place, and one compiled loop.

After https://github.com/google/flax, flax/linen/attention.py (`cached_key`, `lax.dynamic_update_slice`), and the scan over
positions of https://github.com/AI-Hypercomputer/maxtext (`decode.py`).
"""

import argparse
import functools

import jax
import jax.numpy as jnp
import numpy as np

VOCABULARY, WIDTH, HEADS, DEPTH = 512, 128, 4, 4


def init_params(key):
    def normal(key, *shape):
        return jax.random.normal(key, shape) / np.sqrt(shape[0])

    keys = jax.random.split(key, DEPTH + 1)
    layers = []
    for layer_key in keys[1:]:
        k = jax.random.split(layer_key, 4)
        layers.append(
            {
                "qkv": normal(k[0], WIDTH, 3 * WIDTH),
                "out": normal(k[1], WIDTH, WIDTH),
                "up": normal(k[2], WIDTH, 4 * WIDTH),
                "down": normal(k[3], 4 * WIDTH, WIDTH),
            }
        )
    return {"embedding": jax.random.normal(keys[0], (VOCABULARY, WIDTH)), "layers": layers}


def norm(x):
    return x * jax.lax.rsqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-6)


def attention(q, keys, values, mask):
    scores = jnp.einsum("bhd,bthd->bht", q, keys) / np.sqrt(q.shape[-1])
    scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
    return jnp.einsum("bht,bthd->bhd", jax.nn.softmax(scores), values)


def decode_step(params, cache, token, position):
    x = params["embedding"][token]
    new_cache = []
    for layer, (keys, values) in zip(params["layers"], cache):
        qkv = (norm(x) @ layer["qkv"]).reshape(x.shape[0], 3, HEADS, WIDTH // HEADS)
        keys = jax.lax.dynamic_update_slice_in_dim(keys, qkv[:, None, 1], position, axis=1)
        values = jax.lax.dynamic_update_slice_in_dim(values, qkv[:, None, 2], position, axis=1)
        mask = jnp.arange(keys.shape[1]) <= position
        x = x + attention(qkv[:, 0], keys, values, mask).reshape(x.shape) @ layer["out"]
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
        new_cache.append((keys, values))
    return norm(x) @ params["embedding"].T, new_cache


@functools.partial(jax.jit, static_argnames="length")
def generate(params, prompt, length):
    batch, given = prompt.shape
    empty = jnp.zeros((batch, length, HEADS, WIDTH // HEADS))
    cache = [(empty, empty) for _ in range(DEPTH)]
    tokens = jnp.zeros((batch, length + 1), prompt.dtype).at[:, :given].set(prompt)

    def step(carry, position):
        tokens, cache = carry
        token = jax.lax.dynamic_index_in_dim(tokens, position, axis=1, keepdims=False)
        logits, cache = decode_step(params, cache, token, position)
        following = jax.lax.dynamic_index_in_dim(tokens, position + 1, axis=1, keepdims=False)
        following = jnp.where(
            position + 1 < given, following, jnp.argmax(logits, axis=-1).astype(tokens.dtype)
        )
        tokens = jax.lax.dynamic_update_index_in_dim(tokens, following, position + 1, axis=1)
        return (tokens, cache), None

    return jax.lax.scan(step, (tokens, cache), jnp.arange(length))[0][0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--length", type=int, default=20)
    args = parser.parse_args()

    params = init_params(jax.random.PRNGKey(0))
    rng = np.random.default_rng(0)
    for text in range(args.texts):
        prompt = rng.integers(0, VOCABULARY, size=(args.batch_size, 4))
        tokens = generate(params, prompt, args.length)
        print(f"text {text}:", *tokens[0].tolist())


if __name__ == "__main__":
    main()
