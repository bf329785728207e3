# source: jax-ml/jax#34257
# blind: twentieth

"""Sampling from a one-layer transformer with a key/value cache."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@dataclass(frozen=True)
class Config:
    vocab: int = 64
    dim: int = 32
    context: int = 48  # finding-also
    prompt: int = 32  # finding-also
    new_tokens: int = 32  # finding-also


def init_params(cfg, key):
    ks = jax.random.split(key, 6)
    scale = cfg.dim**-0.5
    names = ("wq", "wk", "wv", "wo")
    params = {n: scale * jax.random.normal(k, (cfg.dim, cfg.dim)) for n, k in zip(names, ks)}
    params["embed"] = jax.random.normal(ks[4], (cfg.vocab, cfg.dim))
    params["head"] = scale * jax.random.normal(ks[5], (cfg.dim, cfg.vocab))
    return params


def encode_position(pos, dim):
    angle = pos / 10_000.0 ** (2.0 * jnp.arange(dim // 2) / dim)
    return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)])


def init_cache(cfg, batch):
    shape = (batch, cfg.context, cfg.dim)  # finding-also
    return {"k": jnp.zeros(shape), "v": jnp.zeros(shape)}


def attend(params, x, cache, pos):
    """x: (batch, dim), the token at position `pos`."""
    k = (x @ params["wk"])[:, None, :]
    v = (x @ params["wv"])[:, None, :]
    cache = {  # finding-also
        "k": lax.dynamic_update_slice_in_dim(cache["k"], k, pos, axis=1),  # finding
        "v": lax.dynamic_update_slice_in_dim(cache["v"], v, pos, axis=1),  # finding-also
    }
    scores = jnp.einsum("bd,btd->bt", x @ params["wq"], cache["k"]) * x.shape[-1] ** -0.5
    seen = jnp.arange(cache["k"].shape[1]) <= pos
    weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1)
    return jnp.einsum("bt,btd->bd", weights, cache["v"]) @ params["wo"], cache


@partial(jax.jit, static_argnames="cfg")
def generate(params, prompt, key, cfg):
    total = cfg.prompt + cfg.new_tokens  # finding-also

    def step(carry, inputs):
        pos, step_key = inputs
        token, cache = carry
        forced = prompt[:, jnp.minimum(pos, cfg.prompt - 1)]
        token = jnp.where(pos < cfg.prompt, forced, token)
        x = params["embed"][token] + encode_position(pos, cfg.dim)
        out, cache = attend(params, x, cache, pos)  # finding-also
        logits = jax.nn.standardize(out, axis=-1) @ params["head"]
        return (jax.random.categorical(step_key, logits), cache), token

    init = (prompt[:, 0], init_cache(cfg, prompt.shape[0]))  # finding-also
    _, tokens = lax.scan(step, init, (jnp.arange(total), jax.random.split(key, total)))  # finding-also
    return tokens.T


def main():
    cfg = Config()
    k_params, k_prompt, k_sample = jax.random.split(jax.random.key(0), 3)
    params = init_params(cfg, k_params)
    prompt = jax.random.randint(k_prompt, (2, cfg.prompt), 0, cfg.vocab)
    print(generate(params, prompt, k_sample, cfg)[:, cfg.prompt:])


if __name__ == "__main__":
    main()
