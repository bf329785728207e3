# source: google/jax#6441
# blind: first

import functools

import jax
import jax.numpy as jnp


def make_mlp(widths):
    layers = []
    for i, width in enumerate(widths):
        layers.append((f"dense_{i}", width))

    def init(key, dim):
        params = {}
        for (name, width), k in zip(layers, jax.random.split(key, len(layers))):
            params[name] = jax.random.normal(k, (dim, width)) / dim**0.5
            dim = width
        return params

    @jax.jit
    def apply(params, x):
        activations = []
        for name, _ in layers:
            x = jnp.tanh(x @ params[name])
            activations.append(x)
        stats = {}
        stats["norm"] = jnp.linalg.norm(x)
        stats.update(last=activations[-1].mean())
        return x, stats

    return init, apply


@functools.lru_cache
def offsets(n):
    return tuple(range(-n, n + 1))


if __name__ == "__main__":
    init, apply = make_mlp([4, 2])
    print(apply(init(jax.random.key(0), 3), jnp.ones((2, 3)))[1], offsets(1))
