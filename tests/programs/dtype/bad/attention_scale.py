# source: p-doom/jasmine#123
# blind: twenty-first

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Attention:
    heads: int
    head_dim: int

    def init(self, key, dim):
        keys = jax.random.split(key, 4)
        inner = self.heads * self.head_dim
        names = ("wq", "wk", "wv", "wo")
        shapes = ((dim, inner), (dim, inner), (dim, inner), (inner, dim))
        return {n: (0.02 * jax.random.normal(k, s)).astype(jnp.bfloat16)
                for n, k, s in zip(names, keys, shapes)}

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, self.head_dim)

    def apply(self, params, x):
        q = self.split(x @ params["wq"])
        k = self.split(x @ params["wk"])
        v = self.split(x @ params["wv"])
        q = q / np.sqrt(self.head_dim)  # finding
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
        scores = jnp.where(mask, scores, -1e9)
        weights = jax.nn.softmax(scores, axis=-1)
        out = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        return out.reshape(x.shape[0], x.shape[1], -1) @ params["wo"]


def run_stack(layers, params, x):
    saved = []
    for attn, p in zip(layers, params):
        x = x + attn.apply(p, x)
        saved.append(x)
    return x, saved


def main():
    dim, depth = 128, 4
    layers = [Attention(heads=4, head_dim=32) for _ in range(depth)]
    keys = jax.random.split(jax.random.key(0), depth)
    params = [layer.init(k, dim) for layer, k in zip(layers, keys)]
    x = jax.random.normal(jax.random.key(1), (2, 64, dim), jnp.bfloat16)
    out, saved = jax.jit(lambda p, x: run_stack(layers, p, x))(params, x)
    total = sum(h.size * h.dtype.itemsize for h in saved)
    print("input", x.dtype, "output", out.dtype)
    print("activation bytes", total)


if __name__ == "__main__":
    main()
