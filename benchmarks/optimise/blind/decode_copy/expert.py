"""Greedy decoding with a small decoder-only transformer."""
import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class ModelConfig:
    vocab: int = 64
    dim: int = 64
    heads: int = 4
    layers: int = 2
    max_len: int = 64


def init_params(key, cfg):
    def dense(k, n_in, n_out):
        return jax.random.normal(k, (n_in, n_out)) * (1.5 / np.sqrt(n_in))

    keys = iter(jax.random.split(key, 3 + 4 * cfg.layers))
    params = {
        "embed": jax.random.normal(next(keys), (cfg.vocab, cfg.dim)),
        "pos": 0.5 * jax.random.normal(next(keys), (cfg.max_len, cfg.dim)),
        "out": dense(next(keys), cfg.dim, cfg.vocab),
        "layers": [],
    }
    for _ in range(cfg.layers):
        params["layers"].append({
            "qkv": dense(next(keys), cfg.dim, 3 * cfg.dim),
            "proj": dense(next(keys), cfg.dim, cfg.dim),
            "up": dense(next(keys), cfg.dim, 4 * cfg.dim),
            "down": dense(next(keys), 4 * cfg.dim, cfg.dim),
        })
    return params


def norm(x):
    x = x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt(jnp.mean(x ** 2, -1, keepdims=True) + 1e-5)


def attend(layer, cache, x, pos, heads):
    B, D = x.shape
    q, k, v = jnp.moveaxis((x @ layer["qkv"]).reshape(B, 3, heads, D // heads), 1, 0)
    keys = cache[0].at[:, pos].set(k)
    values = cache[1].at[:, pos].set(v)
    scores = jnp.einsum("bhd,bkhd->bhk", q, keys) / np.sqrt(D // heads)
    valid = jnp.arange(keys.shape[1]) <= pos
    weights = jax.nn.softmax(jnp.where(valid, scores, -1e9), axis=-1)
    out = jnp.einsum("bhk,bkhd->bhd", weights, values).reshape(B, D)
    return out @ layer["proj"], (keys, values)


def step(params, caches, token, pos, cfg):
    x = params["embed"][token] + params["pos"][pos]
    new_caches = []
    for layer, cache in zip(params["layers"], caches):
        delta, cache = attend(layer, cache, norm(x), pos, cfg.heads)
        x = x + delta
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
        new_caches.append(cache)
    return norm(x) @ params["out"], new_caches


def repetition_penalty(logits, seen, penalty=1.3):
    return jnp.where(seen, jnp.where(logits > 0, logits / penalty, logits * penalty), logits)


@functools.partial(jax.jit, static_argnums=(2, 3))
def generate(params, prompt, n_new, cfg):
    B, P = prompt.shape
    total = P + n_new
    shape = (B, total, cfg.heads, cfg.dim // cfg.heads)
    caches = [(jnp.zeros(shape), jnp.zeros(shape)) for _ in params["layers"]]
    padded = jnp.pad(prompt, ((0, 0), (0, n_new))).T

    def body(carry, pos):
        caches, seen, token, logprobs = carry
        token = jnp.where(pos < P, padded[pos], token)
        seen = seen.at[jnp.arange(B), token].set(True)
        logits, caches = step(params, caches, token, pos, cfg)
        logp = jax.nn.log_softmax(repetition_penalty(logits, seen))
        next_token = jnp.argmax(logp, axis=-1).astype(token.dtype)
        picked = jnp.take_along_axis(logp, next_token[:, None], axis=-1)[:, 0]
        logprobs = logprobs + jnp.where(pos >= P - 1, picked, 0.0)
        return (caches, seen, next_token, logprobs), next_token

    seen = jnp.zeros((B, cfg.vocab), dtype=bool)
    carry = (caches, seen, prompt[:, 0], jnp.zeros(B))
    (_, _, _, logprobs), out = jax.lax.scan(body, carry, jnp.arange(total - 1))
    return jnp.concatenate([prompt, out[P - 1:].T], axis=1), logprobs


def main():
    cfg = ModelConfig()
    params = jax.jit(init_params, static_argnums=1)(jax.random.PRNGKey(0), cfg)
    rng = np.random.default_rng(0)
    for request in range(4):
        prompt = rng.integers(0, cfg.vocab, size=(4, 6), dtype=np.int64).astype(np.int32)
        tokens, logprobs = generate(params, prompt, 12, cfg)
        print("request", request, "logprob", np.round(np.asarray(logprobs), 2))
        print("   ", " ".join(str(t) for t in np.asarray(tokens[0, 6:])))


if __name__ == "__main__":
    main()
