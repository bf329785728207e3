# source: google/flax#3946
# blind: second

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    width: int
    rate: float = 0.1

    @nn.compact
    def __call__(self, x, deterministic):
        h = nn.LayerNorm()(x)
        h = nn.gelu(nn.Dense(4 * self.width)(h))
        if not deterministic:  # finding-also
            h = nn.Dropout(self.rate, deterministic=False)(h)
        return x + nn.Dense(self.width)(h)


RematBlock = nn.remat(Block, static_argnums=(1,))  # finding


class Tower(nn.Module):
    width: int
    depth: int
    remat: bool = True

    @nn.compact
    def __call__(self, x, deterministic=True):
        block = RematBlock if self.remat else Block
        for i in range(self.depth):
            x = block(self.width, name=f"block_{i}")(x, deterministic)  # finding-also
        return nn.Dense(1)(x).mean()


def main():
    model = Tower(16, 2)
    x = jnp.ones((2, 16))
    params = model.init(jax.random.key(0), x)
    grads = jax.grad(
        lambda p: model.apply(p, x, deterministic=False, rngs={"dropout": jax.random.key(1)})
    )(params)
    print(len(jax.tree.leaves(grads)))


if __name__ == "__main__":
    main()
