# source: google/flax#3946
# blind: eighteenth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    dim: int
    dropout: float = 0.1

    @nn.compact
    def __call__(self, x, train):
        h = nn.LayerNorm()(x)
        h = nn.gelu(nn.Dense(4 * self.dim)(h))
        h = nn.Dropout(self.dropout)(h, deterministic=not train)  # finding-also
        return x + nn.Dense(self.dim)(h)


RematBlock = nn.remat(Block, static_argnums=(1,))  # finding


class Encoder(nn.Module):
    depth: int
    dim: int

    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(self.dim)(x)
        for _ in range(self.depth):
            x = RematBlock(self.dim)(x, train)  # finding-also
        return nn.LayerNorm()(x).mean(axis=1)


def main():
    model = Encoder(depth=2, dim=16)
    x = jnp.ones((2, 5, 8))
    k_params, k_drop = jax.random.split(jax.random.key(0))
    variables = model.init({"params": k_params, "dropout": k_drop}, x, True)
    out = model.apply(variables, x, True, rngs={"dropout": k_drop})
    print(out.shape)


if __name__ == "__main__":
    main()
