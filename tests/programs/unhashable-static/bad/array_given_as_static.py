# source: jax-ml/jax#883
# blind: first

import jax
import jax.numpy as jnp


def stencil(u, offsets, weights):
    return sum(w * jnp.roll(u, int(o)) for o, w in zip(offsets, weights))


apply_stencil = jax.jit(stencil, static_argnames=["offsets"])


def diffuse(u, n):
    offsets = jnp.array([-1, 0, 1])
    for _ in range(n):
        u = apply_stencil(u, weights=(0.25, 0.5, 0.25), offsets=offsets)  # finding
    return u


if __name__ == "__main__":
    print(diffuse(jnp.arange(8.0), 2))
