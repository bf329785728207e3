# source: google/flax#3630
# blind: seventh

"""A vision transformer encoder with gradient checkpointing."""

import flax.linen as nn
import jax
import jax.numpy as jnp


class EncoderBlock(nn.Module):
    heads: int = 4

    @nn.compact
    def __call__(self, x, deterministic):
        y = nn.LayerNorm()(x)
        y = nn.SelfAttention(self.heads)(y)
        if not deterministic:  # finding-also
            y = nn.Dropout(0.1, deterministic=False)(y)
        return x + y


class Encoder(nn.Module):
    depth: int = 2
    remat: bool = True

    @nn.compact
    def __call__(self, x, deterministic=True):
        block = nn.remat(EncoderBlock) if self.remat else EncoderBlock  # finding
        for i in range(self.depth):
            x = block(name=f"block_{i}")(x, deterministic)  # finding-also
        return nn.LayerNorm()(x)


def main():
    model = Encoder()
    tokens = jnp.ones((2, 16, 32))
    params = model.init(jax.random.key(0), tokens)

    @jax.jit
    def loss(params, tokens, key):
        out = model.apply(params, tokens, deterministic=False, rngs={"dropout": key})
        return jnp.mean(out**2)

    print(jax.grad(loss)(params, tokens, jax.random.key(1)).keys())


if __name__ == "__main__":
    main()
