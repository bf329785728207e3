# source: google/flax#5183
# blind: twenty-first

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class ResBlock(nnx.Module):
    def __init__(self, dim, *, rngs):
        self.norm = nnx.LayerNorm(dim, rngs=rngs)
        self.up = nnx.Linear(dim, 2 * dim, rngs=rngs)
        self.down = nnx.Linear(2 * dim, dim, rngs=rngs)

    def __call__(self, x):
        return x + self.down(nnx.gelu(self.up(self.norm(x))))


class ResidualMLP(nnx.Module):
    def __init__(self, d_in, dim, depth, classes, *, rngs):
        self.stem = nnx.Linear(d_in, dim, rngs=rngs)
        self.blocks = [ResBlock(dim, rngs=rngs) for _ in range(depth)]  # finding
        self.head = nnx.Linear(dim, classes, rngs=rngs)

    def __call__(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def loss_fn(model, x, y):
    logits = model(x)
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    return loss


def main():
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(128, 10)), jnp.float32)
    y = jnp.asarray((x[:, 0] > 0).astype(np.int32) + (x[:, 1] > 0).astype(np.int32))
    model = ResidualMLP(10, 32, depth=2, classes=3, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)
    for _ in range(20):
        loss = train_step(model, optimizer, x, y)
    print("loss", float(loss))


if __name__ == "__main__":
    main()
