# blind: sixteenth

"""Rotary attention block; the tables of sines are made on first use and kept."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class RotaryTables:
    head_dim: int
    base: float = 10_000.0

    def __post_init__(self):
        self._cache = {}

    def get(self, length):
        if length not in self._cache:
            freq = self.base ** (-jnp.arange(0, self.head_dim, 2) / self.head_dim)
            angles = jnp.arange(length)[:, None] * freq[None, :]
            self._cache[length] = (jnp.sin(angles), jnp.cos(angles))  # finding
        return self._cache[length]  # finding-also


def rotate(x, tables):
    sin, cos = tables
    x1, x2 = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([x1 * cos - x2 * sin, x1 * sin + x2 * cos], axis=-1)


class Attention:
    def __init__(self, key, dim, heads):
        self.heads, self.head_dim = heads, dim // heads
        k1, k2 = jax.random.split(key)
        self.params = {
            "qkv": jax.random.normal(k1, (dim, 3 * dim)) * dim**-0.5,
            "out": jax.random.normal(k2, (dim, dim)) * dim**-0.5,
        }
        self.rope = RotaryTables(self.head_dim)

    def apply(self, params, x):
        length, dim = x.shape
        qkv = (x @ params["qkv"]).reshape(length, 3, self.heads, self.head_dim)
        q, k, v = (jnp.moveaxis(qkv[:, i], 0, 1) for i in range(3))
        tables = self.rope.get(length)
        q, k = rotate(q, tables), rotate(k, tables)
        weights = jax.nn.softmax(q @ jnp.swapaxes(k, 1, 2) * self.head_dim**-0.5, axis=-1)
        y = jnp.moveaxis(weights @ v, 0, 1).reshape(length, dim)
        return y @ params["out"]


def main():
    layer = Attention(jax.random.PRNGKey(0), 64, 4)

    @jax.jit
    def train_loss(params, x):
        return jnp.mean(layer.apply(params, x) ** 2)

    @jax.jit
    def embed(params, x):
        return layer.apply(params, x).mean(axis=0)

    x = jax.random.normal(jax.random.PRNGKey(1), (16, 64))
    grads = jax.grad(train_loss)(layer.params, x)
    params = jax.tree.map(lambda p, g: p - 0.1 * g, layer.params, grads)
    print(embed(params, x).shape)


if __name__ == "__main__":
    main()
