# source: jax-ml/jax#4274
# blind: twentieth

"""Samples melodies from a small causal convolution model."""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp


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


def logits_of(params, notes):
    h = params["embed"][notes]
    h = h + jax.nn.gelu(causal_conv(h, params["conv"]))
    return h @ params["out"]


@partial(jax.jit, static_argnames="temperature")  # finding-also
def next_note(params, notes, key, temperature):
    logits = logits_of(params, notes)[:, -1]
    return jax.random.categorical(key, logits / temperature)


def generate(params, start, key, cfg):
    notes = start
    for _ in range(cfg.length):  # finding-also
        key, sub = jax.random.split(key)
        nxt = next_note(params, notes, sub, cfg.temperature)  # finding-also
        notes = jnp.concatenate([notes, nxt[:, None]], axis=1)  # finding
    return notes


def main():
    cfg = Config()
    k_params, k_start, k_gen = jax.random.split(jax.random.key(0), 3)
    params = init_params(cfg, k_params)
    start = jax.random.randint(k_start, (4, 8), 0, cfg.notes)
    melody = generate(params, start, k_gen, cfg)
    print(melody.shape, melody[0].tolist())


if __name__ == "__main__":
    main()
