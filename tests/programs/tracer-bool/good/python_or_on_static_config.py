# source: jax-ml/jax#16430

import dataclasses
import functools

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Options:
    heads: int = 2
    window: int | None = None
    scale: float | None = None


def mask_for(length, options):
    width = options.window or length
    rows = jnp.arange(length)
    return jnp.abs(rows[:, None] - rows[None]) < width


@functools.partial(jax.jit, static_argnums=2)
def attend(q, k, options):
    scale = options.scale or q.shape[-1] ** -0.5
    scores = q @ k.T * scale
    if options.window is not None:
        scores = jnp.where(mask_for(q.shape[0], options), scores, -1e9)
    return jax.nn.softmax(scores, axis=-1)


def main():
    q, k = jax.random.normal(jax.random.key(0), (2, 6, 4))
    for options in (Options(), Options(window=2), Options(scale=0.5)):
        print(attend(q, k, options).sum())


main()
