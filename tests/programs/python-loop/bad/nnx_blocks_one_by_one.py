# source: fattorib/ZeRO-transformer#13
# blind: seventh

import jax
import jax.numpy as jnp
from flax import nnx
import optax


class Block(nnx.Module):
    def __init__(self, dim, rngs):
        self.norm = nnx.LayerNorm(dim, rngs=rngs)
        self.up = nnx.Linear(dim, 4 * dim, rngs=rngs)
        self.down = nnx.Linear(4 * dim, dim, rngs=rngs)

    def __call__(self, x):
        return x + self.down(nnx.gelu(self.up(self.norm(x))))


class Transformer(nnx.Module):
    def __init__(self, dim, depth, rngs):
        self.blocks = nnx.List([Block(dim, rngs) for _ in range(depth)])  # finding-also
        self.head = nnx.Linear(dim, 1, rngs=rngs)

    def __call__(self, x):
        for block in self.blocks:  # finding
            x = block(x)
        return self.head(x)


@nnx.jit(donate_argnums=(0, 1))
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


def main():
    model = Transformer(32, depth=48, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    print(train_step(model, optimizer, jnp.ones((4, 32)), jnp.ones((4, 1))))


if __name__ == "__main__":
    main()
