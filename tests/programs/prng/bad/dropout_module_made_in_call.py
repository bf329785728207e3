# source: google/flax#2675
# blind: fourth

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Block(nnx.Module):
    def __init__(self, width, rate, *, rngs):
        self.up = nnx.Linear(width, 4 * width, rngs=rngs)
        self.down = nnx.Linear(4 * width, width, rngs=rngs)
        self.rate = rate

    def __call__(self, x):
        h = nnx.relu(self.up(x))
        h = nnx.Dropout(self.rate, rngs=nnx.Rngs(0))(h)  # finding
        return x + self.down(h)


class Net(nnx.Module):
    def __init__(self, width, *, rngs):
        self.first = Block(width, 0.1, rngs=rngs)
        self.second = Block(width, 0.1, rngs=rngs)

    def __call__(self, x):
        return self.second(self.first(x)).mean(-1)


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    return loss


def main():
    model = Net(16, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    for i in range(5):
        loss = train_step(model, optimizer, jnp.ones((8, 16)) * i, jnp.ones(8))
    print(loss)


if __name__ == "__main__":
    main()
