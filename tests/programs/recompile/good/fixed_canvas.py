# blind: twentieth

"""Samples melodies into a buffer of fixed length, prompts padded to buckets."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

BUCKETS = (8, 16, 32)


@dataclass(frozen=True)
class Config:
    notes: int = 48
    dim: int = 32
    kernel: int = 5
    temperature: float = 0.9
    length: int = 40


def init_params(cfg, key):
    k_embed, k_conv, k_out = jax.random.split(key, 3)
    return {
        "embed": jax.random.normal(k_embed, (cfg.notes, cfg.dim)),
        "conv": jax.random.normal(k_conv, (cfg.kernel, cfg.dim, cfg.dim)) * 0.1,
        "out": jax.random.normal(k_out, (cfg.dim, cfg.notes)) * cfg.dim**-0.5,
    }


def causal_conv(x, kernel):
    """x: (batch, time, dim)."""
    x = jnp.pad(x, ((0, 0), (kernel.shape[0] - 1, 0), (0, 0)))
    return jax.lax.conv_general_dilated(
        x, kernel, (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC")
    )


@partial(jax.jit, donate_argnums=1)
def extend(params, notes, position, key, temperature):
    """Writes the note at `position`, which depends only on earlier ones."""
    h = params["embed"][notes]
    h = h + jax.nn.gelu(causal_conv(h, params["conv"]))
    last = jax.lax.dynamic_index_in_dim(h, position - 1, axis=1, keepdims=False)
    nxt = jax.random.categorical(key, last @ params["out"] / temperature)
    return jax.lax.dynamic_update_slice_in_dim(notes, nxt[:, None], position, axis=1)


def pad_to_bucket(prompt, length):
    size = next(b for b in BUCKETS if b >= prompt.shape[1])
    canvas = np.zeros((prompt.shape[0], size + length), np.int32)
    canvas[:, :prompt.shape[1]] = prompt
    return jnp.asarray(canvas)


def generate(params, prompt, key, cfg):
    start = prompt.shape[1]
    notes = pad_to_bucket(prompt, cfg.length)
    for position in range(start, start + cfg.length):
        key, sub = jax.random.split(key)
        notes = extend(params, notes, position, sub, cfg.temperature)
    return np.asarray(notes)[:, :start + cfg.length]


def main():
    cfg = Config()
    key, k_params = jax.random.split(jax.random.key(0))
    params = init_params(cfg, k_params)
    rng = np.random.default_rng(0)
    for length in (5, 7, 8, 12, 15):
        key, sub = jax.random.split(key)
        prompt = rng.integers(0, cfg.notes, (4, length), dtype=np.int32)
        melody = generate(params, prompt, sub, cfg)
        print(length, melody.shape, melody[0, -5:].tolist())


if __name__ == "__main__":
    main()
