# source: google/flax#3980

import jax.numpy as jnp
import optax
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.lin = nnx.Linear(3, 8, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.out = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(self.drop(nnx.relu(self.lin(x))))


@nnx.jit  # finding-other
def step(model, opt, x, y):
    loss, grads = nnx.value_and_grad(lambda m: jnp.mean((m(x)[:, 0] - y) ** 2))(model)
    opt.update(model, grads)
    return loss


def main(n):
    model = Net(nnx.Rngs(params=0, dropout=1))
    opt = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    for _ in range(n):
        loss = step(model, opt, jnp.ones((4, 3)), jnp.ones(4))
    return loss


if __name__ == "__main__":
    print(main(3))
