"""Greedy decoding with a small decoder-only transformer."""
import dataclasses

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


def attention(layer, x, heads):
    B, T, D = x.shape
    qkv = (x @ layer["qkv"]).reshape(B, T, 3, heads, D // heads)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(D // heads)
    mask = jnp.tril(jnp.ones((T, T), dtype=bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -1e9), axis=-1)
    out = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(B, T, D)
    return out @ layer["proj"]


def forward(params, tokens, cfg):
    T = tokens.shape[1]
    x = params["embed"][tokens] + params["pos"][:T]
    for layer in params["layers"]:
        x = x + attention(layer, norm(x), cfg.heads)
        x = x + jax.nn.gelu(norm(x) @ layer["up"]) @ layer["down"]
    return norm(x) @ params["out"]


def repetition_penalty(logits, tokens, penalty=1.3):
    seen = jax.nn.one_hot(tokens, logits.shape[-1]).sum(axis=1) > 0
    return jnp.where(seen, jnp.where(logits > 0, logits / penalty, logits * penalty), logits)


class Generator:
    def __init__(self, params, cfg):
        self.params = params
        self.cfg = cfg
        self.forward = jax.jit(forward, static_argnums=2)

    def generate(self, prompt, n_new):
        tokens = jnp.asarray(prompt)
        logprobs = jnp.zeros(tokens.shape[0])
        for _ in range(n_new):
            logits = self.forward(self.params, tokens, self.cfg)[:, -1]
            logits = repetition_penalty(logits, tokens)
            logp = jax.nn.log_softmax(logits)
            next_token = jnp.argmax(logp, axis=-1)
            logprobs = logprobs + logp[jnp.arange(len(next_token)), next_token]
            tokens = jnp.concatenate([tokens, next_token[:, None]], axis=1)
        return tokens, logprobs


def main():
    cfg = ModelConfig()
    generator = Generator(init_params(jax.random.PRNGKey(0), cfg), cfg)
    rng = np.random.default_rng(0)
    for request in range(4):
        prompt = rng.integers(0, cfg.vocab, size=(4, 6))
        tokens, logprobs = generator.generate(prompt, 12)
        print("request", request, "logprob", np.round(np.asarray(logprobs), 2))
        print("   ", " ".join(str(t) for t in np.asarray(tokens[0, 6:])))


if __name__ == "__main__":
    main()
