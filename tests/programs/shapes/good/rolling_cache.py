# blind: twentieth

"""Decoding with sliding-window attention and a rolling key/value cache."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


@dataclass(frozen=True)
class Config:
    vocab: int = 64
    dim: int = 32
    window: int = 16
    prompt: int = 24
    new_tokens: int = 32


def init_params(cfg, key):
    ks = jax.random.split(key, 5)
    scale = cfg.dim**-0.5
    names = ("wq", "wk", "wv", "wo")
    params = {n: scale * jax.random.normal(k, (cfg.dim, cfg.dim)) for n, k in zip(names, ks)}
    params["embed"] = jax.random.normal(ks[4], (cfg.vocab, cfg.dim))
    return params


def init_cache(cfg, batch):
    shape = (batch, cfg.window, cfg.dim)
    return {"k": jnp.zeros(shape), "v": jnp.zeros(shape)}


def attend(params, x, cache, pos):
    """x: (batch, dim), the token at position `pos`."""
    window = cache["k"].shape[1]
    slot = pos % window
    k = (x @ params["wk"])[:, None, :]
    v = (x @ params["wv"])[:, None, :]
    cache = {
        "k": lax.dynamic_update_slice_in_dim(cache["k"], k, slot, axis=1),
        "v": lax.dynamic_update_slice_in_dim(cache["v"], v, slot, axis=1),
    }
    scores = jnp.einsum("bd,btd->bt", x @ params["wq"], cache["k"]) * x.shape[-1] ** -0.5
    written = jnp.arange(window) <= pos
    weights = jax.nn.softmax(jnp.where(written, scores, -jnp.inf), axis=-1)
    return jnp.einsum("bt,btd->bd", weights, cache["v"]) @ params["wo"], cache


@partial(jax.jit, static_argnames="cfg")
def generate(params, prompt, cfg):
    total = cfg.prompt + cfg.new_tokens

    def step(carry, pos):
        token, cache = carry
        forced = prompt[:, jnp.minimum(pos, cfg.prompt - 1)]
        token = jnp.where(pos < cfg.prompt, forced, token)
        out, cache = attend(params, params["embed"][token], cache, pos)
        logits = out @ params["embed"].T
        return (jnp.argmax(logits, axis=-1), cache), token

    init = (prompt[:, 0], init_cache(cfg, prompt.shape[0]))
    _, tokens = lax.scan(step, init, jnp.arange(total))
    return tokens.T


def main():
    cfg = Config()
    k_params, k_prompt = jax.random.split(jax.random.key(0))
    params = init_params(cfg, k_params)
    prompt = jax.random.randint(k_prompt, (2, cfg.prompt), 0, cfg.vocab)
    print(generate(params, prompt, cfg)[:, cfg.prompt:])


if __name__ == "__main__":
    main()
