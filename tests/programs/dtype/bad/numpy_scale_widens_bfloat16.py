# source: keras-team/keras-core#410
# blind: second

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Attention(nn.Module):
    heads: int
    dim: int
    dtype: jnp.dtype = jnp.bfloat16

    def setup(self):
        self.qkv = nn.Dense(3 * self.heads * self.dim, dtype=self.dtype, use_bias=False)
        self.out = nn.Dense(self.heads * self.dim, dtype=self.dtype, use_bias=False)
        self.scale = np.sqrt(self.dim)

    def split(self, x):
        return x.reshape(*x.shape[:-1], self.heads, self.dim)

    def __call__(self, x):
        q, k, v = (self.split(part) for part in jnp.split(self.qkv(x), 3, axis=-1))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / self.scale  # finding
        weights = jax.nn.softmax(scores, axis=-1)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        return self.out(mixed.reshape(*x.shape[:-1], -1))


def main():
    model = Attention(4, 8)
    x = jnp.ones((2, 16, 32), jnp.bfloat16)
    params = model.init(jax.random.key(0), x)
    print(jax.jit(model.apply)(params, x).dtype)


if __name__ == "__main__":
    main()
