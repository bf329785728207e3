# moving averages in 16 bits that stand still, and averages that move: a smaller decay, float32, rounding at random
import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Settings:
    dtype: Any = jnp.bfloat16
    decay: float = 0.999


def lerp(mean, x, decay):
    return jax.tree.map(lambda m, p: m * decay + p.astype(m.dtype) * (1 - decay), mean, x)  # finding


def toward(mean, x, share):
    return mean + share * (x.astype(mean.dtype) - mean)  # finding


def down(mean, x, share):
    return mean - share * (mean - x)  # finding


def in_float32(mean, x):
    wide = 0.9999 * mean.astype(jnp.float32) + 0.0001 * x
    return wide.astype(mean.dtype)  # finding


def quick(mean, x, decay):
    return decay * mean + (1 - decay) * x


def leaky(mean, x):
    return 0.999 * mean + 0.5 * x


def at_random(key, mean, x):
    wide = 0.9999 * mean.astype(jnp.float32) + 0.0001 * x
    noise = jax.random.uniform(key, wide.shape, minval=-0.5, maxval=0.5) * 2**-8 * jnp.abs(wide)
    return (wide + noise).astype(mean.dtype)


def kept_in_float32(mean, x):
    mean = 0.9999 * mean + 0.0001 * x
    return mean, mean.astype(jnp.bfloat16)


@functools.partial(jax.jit, static_argnums=0)
def step(settings, state, x, key):
    tree, half, wide = state
    tree = lerp(tree, {"w": x}, settings.decay)
    half = toward(half, x, 0.0005)
    half = down(half, x.astype(jnp.float16), 0.0005)
    half = in_float32(half, x)
    half = at_random(key, half, x)
    half = quick(half, x.astype(jnp.float16), 0.99)
    half = leaky(half, x.astype(jnp.float16))
    wide, shown = kept_in_float32(wide, x)
    return (tree, half, wide), shown


def main():
    settings = Settings()
    x = jnp.linspace(0.0, 1.0, 8)
    state = {"w": jnp.zeros(8, settings.dtype)}, jnp.zeros(8, jnp.float16), jnp.zeros(8)
    key = jax.random.key(0)
    for _ in range(3):
        key, sub = jax.random.split(key)
        state, shown = step(settings, state, x, sub)
    print(shown)


main()
