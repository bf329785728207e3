# source: jax-ml/jax#2072
# blind: sixteenth

"""Greedy decoding with a small transformer written by hand."""

import functools

import jax
import jax.numpy as jnp

DIM, HEADS, LAYERS, VOCAB, MAX_LEN = 32, 4, 2, 200, 64


def init_layer(key):
    ks = jax.random.split(key, 4)
    return {
        "qkv": jax.random.normal(ks[0], (DIM, 3 * DIM)) * 0.1,
        "proj": jax.random.normal(ks[1], (DIM, DIM)) * 0.1,
        "up": jax.random.normal(ks[2], (DIM, 4 * DIM)) * 0.1,
        "down": jax.random.normal(ks[3], (4 * DIM, DIM)) * 0.1,
    }


def init(key):
    ke, kp, *kl = jax.random.split(key, LAYERS + 2)
    return {
        "embed": jax.random.normal(ke, (VOCAB, DIM)) * 0.1,
        "pos": jax.random.normal(kp, (MAX_LEN, DIM)) * 0.1,
        "layers": [init_layer(k) for k in kl],
    }


def attention(layer, x):
    T = x.shape[0]
    q, k, v = jnp.split(x @ layer["qkv"], 3, axis=-1)
    q = q.reshape(T, HEADS, DIM // HEADS)
    k = k.reshape(T, HEADS, DIM // HEADS)
    v = v.reshape(T, HEADS, DIM // HEADS)
    scores = jnp.einsum("thd,shd->hts", q, k) / jnp.sqrt(DIM // HEADS)
    mask = jnp.tril(jnp.ones((T, T), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)
    out = jnp.einsum("hts,shd->thd", weights, v).reshape(T, DIM)
    return out @ layer["proj"]


def forward(params, tokens):
    x = params["embed"][tokens] + params["pos"][: tokens.shape[0]]
    for layer in params["layers"]:
        x = x + attention(layer, x)
        x = x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]
    return x @ params["embed"].T


@jax.jit
def next_token(params, tokens):
    logits = forward(params, tokens)
    return jnp.argmax(logits[-1]).astype(tokens.dtype)


def generate(params, prompt, max_new_tokens, eos_id=1):
    tokens = prompt
    for _ in range(max_new_tokens):
        token = next_token(params, tokens)  # finding
        tokens = jnp.concatenate([tokens, token[None]])  # finding-also
    return tokens


def main():
    params = init(jax.random.PRNGKey(0))
    prompt = jnp.array([3, 17, 42, 9], dtype=jnp.int32)
    out = generate(params, prompt, 40)
    print(out)


if __name__ == "__main__":
    main()
