# source: p-doom/jasmine#158
# blind: eighth

import jax
import jax.numpy as jnp
import optax
from flax import nnx


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean((model(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


def train(batches):
    model = nnx.Linear(4, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    losses = []
    for x, y in batches:
        loss = train_step(model, optimizer, x, y)
        losses.append(loss.item())  # finding
    return sum(losses) / len(losses)


if __name__ == "__main__":
    print(train([(jnp.ones((8, 4)), jnp.zeros((8, 1)))] * 3))
