# source: AI-Hypercomputer/maxtext#4530
# blind: fifth

import flax.linen as nn
import jax
import jax.numpy as jnp


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.Dense(4 * self.width)(nn.LayerNorm()(x))
        return x + nn.Dense(self.width)(nn.gelu(h))


class Backbone(nn.Module):
    depth: int
    width: int

    @nn.compact
    def __call__(self, x):
        block = nn.remat(Block, prevent_cse=False)  # finding
        for i in range(self.depth):
            x = block(self.width, name=f"block_{i}")(x)
        return x


model = Backbone(6, 32)


@jax.jit
def grads(params, x):
    return jax.grad(lambda p: jnp.mean(model.apply(p, x) ** 2))(params)


if __name__ == "__main__":
    x = jnp.ones((4, 32))
    params = model.init(jax.random.key(0), x)
    print(len(jax.tree.leaves(grads(params, x))))
