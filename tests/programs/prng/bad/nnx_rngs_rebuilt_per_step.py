# source: google/flax#3980

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Encoder(nnx.Module):
    def __init__(self, n_in, n_hidden, rngs):
        self.inp = nnx.Linear(n_in, n_hidden, rngs=rngs)
        self.out = nnx.Linear(n_hidden, 1, rngs=rngs)

    def __call__(self, x, rngs):
        h = nnx.relu(self.inp(x))
        h = nnx.Dropout(0.5)(h, rngs=rngs)
        return self.out(h)


def loss_fn(model, x, y):
    pred = model(x, rngs=nnx.Rngs(dropout=0))  # finding
    return jnp.mean((pred[:, 0] - y) ** 2)


@nnx.jit
def train_step(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(loss_fn)(model, x, y)
    optimizer.update(model, grads)
    return loss


def main(n=4):
    model = Encoder(3, 8, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    for _ in range(n):
        loss = train_step(model, optimizer, jnp.ones((4, 3)), jnp.ones(4))
    return loss


if __name__ == "__main__":
    print(main())
