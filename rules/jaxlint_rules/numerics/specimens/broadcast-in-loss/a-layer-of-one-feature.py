# one number for each example from a layer, and a row of targets in slices of unknown length

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx


class Regressor(nnx.Module):
    def __init__(self, din, rngs):
        self.out = nnx.Linear(din, 1, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.relu(x))


@nnx.jit
def step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean(jnp.abs(model(x) - y))  # finding

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


@nnx.jit
def right(model, x, y):
    return jnp.mean(jnp.abs(model(x)[:, 0] - y)) + jnp.mean(jnp.abs(model(x) - y[:, None]))


rng = np.random.default_rng(0)
xs = rng.normal(size=(1000, 5)).astype(np.float32)
ys = (xs**2).sum(axis=1)
model = Regressor(5, nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
for i in range(0, 1000, 128):
    step(model, optimizer, xs[i : i + 128], ys[i : i + 128])
    right(model, xs[i : i + 128], ys[i : i + 128])
