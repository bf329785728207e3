# an optimiser that is updated in a trace it does not belong to, and a module that is trained elsewhere

import jax
import jax.numpy as jnp
import optax
from flax import nnx

model = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)


@jax.jit
def train_step(x, y):
    def loss_fn(m):
        return jnp.mean((m(x) - y) ** 2)

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)  # finding
    return loss


class Net(nnx.Module):
    def __init__(self, rngs):
        self.dense = nnx.Linear(8, 8, rngs=rngs)

    def __call__(self, x):
        return self.dense(x)


def fit(batches):
    net = Net(nnx.Rngs(0))

    @jax.jit
    def predict(x):
        return net(x)  # finding

    @nnx.jit
    def update(net, x):
        grads = nnx.grad(lambda m: (m(x) ** 2).mean())(net)
        params = nnx.state(net, nnx.Param)
        nnx.update(net, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads))

    for x in batches:
        update(net, x)
        predict(x)
