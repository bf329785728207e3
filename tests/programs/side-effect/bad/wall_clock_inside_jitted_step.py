# source: jax-ml/jax#1141
# blind: eighteenth

import time

import equinox as eqx
import jax
import jax.numpy as jnp


class Attention(eqx.Module):
    qkv: eqx.nn.Linear
    out: eqx.nn.Linear
    heads: int = eqx.field(static=True)

    def __init__(self, dim, heads, *, key):
        k1, k2 = jax.random.split(key)
        self.qkv = eqx.nn.Linear(dim, 3 * dim, use_bias=False, key=k1)
        self.out = eqx.nn.Linear(dim, dim, key=k2)
        self.heads = heads

    def __call__(self, x):
        seq, dim = x.shape
        q, k, v = jnp.split(jax.vmap(self.qkv)(x), 3, axis=-1)
        split = lambda a: a.reshape(seq, self.heads, dim // self.heads)
        attn = jax.nn.dot_product_attention(split(q), split(k), split(v))
        return jax.vmap(self.out)(attn.reshape(seq, dim))


@eqx.filter_jit
def forward(model, batch):
    start = time.perf_counter()  # finding-also
    out = jax.vmap(model)(batch)
    elapsed = time.perf_counter() - start  # finding
    return out, elapsed


def main():
    model = Attention(16, 4, key=jax.random.key(0))
    batch = jnp.ones((2, 8, 16))
    for _ in range(3):
        out, seconds = forward(model, batch)
        print("attention took", seconds)


if __name__ == "__main__":
    main()
