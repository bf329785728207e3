"""Samples from a small transformer in plain JAX, token by token, with a cache of keys and values."""

import argparse

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


def attention(q, keys, values):
    scores = jnp.einsum("bhd,bthd->bht", q, keys) / np.sqrt(q.shape[-1])
    return jnp.einsum("bht,bthd->bhd", jax.nn.softmax(scores), values)


@jax.jit
def decode_step(params, cache, token):
    x = params["embedding"][token]
    new_cache = []
    for layer, (keys, values) in zip(params["layers"], cache):
        qkv = (norm(x) @ layer["qkv"]).reshape(x.shape[0], 3, HEADS, WIDTH // HEADS)
        keys = jnp.concatenate([keys, qkv[:, None, 1]], axis=1)
        values = jnp.concatenate([values, qkv[:, None, 2]], axis=1)
        x = x + attention(qkv[:, 0], keys, values).reshape(x.shape) @ layer["out"]
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
        new_cache.append((keys, values))
    return norm(x) @ params["embedding"].T, new_cache


def generate(params, prompt, length):
    batch = prompt.shape[0]
    empty = jnp.zeros((batch, 0, HEADS, WIDTH // HEADS))
    cache = [(empty, empty) for _ in range(DEPTH)]
    tokens = list(prompt.T)
    for position in range(length):
        logits, cache = decode_step(params, cache, tokens[position])
        if position + 1 >= len(tokens):
            tokens.append(jnp.argmax(logits, axis=-1))
    return jnp.stack(tokens, axis=1)


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
